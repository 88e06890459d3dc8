#include "volvelle/nn/positions/learned.h"

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "nn/parameter.h"
#include "nn/parameter_size.h"
#include "nn/positions/position_values.h"
#include "nn/positions/schemes.h"
#include "nn/positions/settings.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/embedding.h"

namespace volvelle {
namespace {

constexpr const char* kModule = "learned positions";

constexpr std::array kKeys{
    PositionKey{"rows", "integer", "how many positions there are: the longest text", ""},
};

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[" + std::string(kModule) + "] " + text);
}

}  // namespace

LearnedPositions::LearnedPositions(std::int64_t rows, std::int64_t width, DType dtype) {
  check_size(kModule, "rows", rows);
  check_size(kModule, "width", width);
  check_parameters_fit(kModule, static_cast<double>(rows) * static_cast<double>(width), dtype);
  weight_ = make_parameter(kModule, dtype, {rows, width});
  add_parameter("weight", weight_);
}

PositionFacts LearnedPositions::facts() const {
  return {.door = PositionDoor::tokens,
          .shift_keeps = ShiftKeeps::nothing,
          .positions = rows(),
          .parameters = weight_.size(),
          .cost = std::to_string(weight_.shape()[1]) + " additions, once for all layers",
          .cache = "keys and values as projected"};
}

Variable LearnedPositions::forward(const Variable& x) const {
  if (x.rank() < 2) refuse("x " + to_string(x.shape()) + " must be (..., T, C)");
  const std::int64_t tokens = x.shape()[x.rank() - 2];
  if (tokens > rows()) {
    refuse(std::to_string(tokens) + " tokens reach beyond the table of " + std::to_string(rows()) +
           " rows: a learned table has no position after its last; shorten the text or train a "
           "longer table");
  }
  std::vector<std::int64_t> places(static_cast<std::size_t>(tokens));
  std::iota(places.begin(), places.end(), 0);
  return add(x, embedding(View(places.data(), {tokens}), weight_));
}

Variable LearnedPositions::forward(const Variable& x, const View& positions) const {
  position_values(kModule, positions, rows());
  return add(x, embedding(positions, weight_));
}

Variable LearnedPositions::add_to_tokens(const Variable& x, const View& positions) const {
  return forward(x, positions);
}

void LearnedPositions::initialize(Initializer& initializer) { initializer.embedding(weight_); }

std::span<const PositionKey> learned_keys() { return kKeys; }

std::shared_ptr<PositionScheme> make_learned(const PositionText& text,
                                             const PositionContext& context) {
  const SchemeSettings settings(text);
  const std::optional<std::int64_t> rows = settings.count("rows");
  if (!rows) settings.refuse("rows is missing: how many positions the table has, rows=1024 say");
  return std::make_shared<LearnedPositions>(*rows, context.width, context.dtype);
}

}  // namespace volvelle
