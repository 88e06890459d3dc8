#include "studies/layer_parameter.h"

#include <array>
#include <utility>
#include <vector>

#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"

namespace volvelle {
namespace {

constexpr std::array<std::pair<const char*, LayerParameter::Part>, 3> kParts{
    {{"query", LayerParameter::Part::query},
     {"key", LayerParameter::Part::key},
     {"value", LayerParameter::Part::value}}};

bool is_packed(const std::string& name) {
  return name == "self_attn.in_proj_weight" || name == "self_attn.in_proj_bias";
}

}  // namespace

LayerParameter LayerParameter::parse(const std::string& text) {
  LayerParameter parameter;
  const std::size_t colon = text.find(':');
  parameter.name = text.substr(0, colon);
  if (colon == std::string::npos) return parameter;
  const std::string part = text.substr(colon + 1);
  std::vector<std::string> names;
  for (const auto& [name, value] : kParts) {
    names.emplace_back(name);
    if (part == name) parameter.part = value;
  }
  if (parameter.part == Part::all) {
    throw InvalidArgument("[norm-placement] unknown part '" + part + "' of parameter " +
                          parameter.name + suggestion(part, names) + " (one of query, key, value)");
  }
  if (!is_packed(parameter.name)) {
    throw InvalidArgument("[norm-placement] parameter " + parameter.name +
                          " has no parts: ':" + part +
                          "' stands behind self_attn.in_proj_weight or self_attn.in_proj_bias");
  }
  return parameter;
}

std::string LayerParameter::in_layer(std::int64_t layer) const {
  return "layers." + std::to_string(layer) + "." + name;
}

View LayerParameter::of(const View& gradient) const {
  if (part == Part::all) return gradient;
  const std::int64_t third = static_cast<std::int64_t>(part) - 1;
  const std::int64_t rows = gradient.shape()[0] / 3;
  const std::int64_t row = gradient.rank() > 1 ? gradient.shape()[1] : 1;
  const auto* first = static_cast<const char*>(gradient.data()) +
                      static_cast<std::size_t>(third * rows * row) * size_of(gradient.dtype());
  const Shape shape = gradient.rank() > 1 ? Shape{rows, row} : Shape{rows};
  return View(first, gradient.dtype(), shape);
}

bool LayerParameter::is_unseen() const {
  return name == "self_attn.in_proj_bias" && part == Part::key;
}

}  // namespace volvelle
