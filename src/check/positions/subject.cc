#include "check/positions/subject.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "volvelle/base/error.h"
#include "volvelle/nn/positions/rotary.h"
#include "volvelle/nn/positions/scheme.h"
#include "volvelle/nn/stack.h"

namespace volvelle::positions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

LanguageModelOptions options_of(const std::string& scheme, const ModelKind& kind) {
  LanguageModelOptions options;
  options.stack = {.layers = kLayers,
                   .width = kWidth,
                   .heads = kHeads,
                   .key_heads = kKeyHeads,
                   .feed_forward = 2 * kWidth,
                   .activation = Activation::gelu,  // no kinks, for central differences
                   .causal = kind.causal,
                   .dtype = kind.dtype};
  options.vocabulary = kVocabulary;
  options.positions = scheme;
  return options;
}

// Norms near 1, everything else as large as it takes for attention to be far from even.
double scale_of(const NamedParameter& parameter) {
  const Shape& shape = parameter.variable.shape();
  if (parameter.name.find("positions") != std::string::npos) return 0.7;
  if (parameter.name.find("norm") != std::string::npos || shape.rank() < 2) return 0.1;
  return 1.6 / std::sqrt(static_cast<double>(shape[1]));
}

void fill(MutableView to, RandomNumbers& draws, double scale, double mean) {
  std::int64_t size = 1;
  for (int axis = 0; axis < to.rank(); ++axis) size *= to.shape()[axis];
  for (std::int64_t i = 0; i < size; ++i) {
    const double value = mean + scale * draws.normal();
    if (to.dtype() == DType::float64) {
      static_cast<double*>(to.data())[i] = value;
    } else {
      static_cast<float*>(to.data())[i] = static_cast<float>(value);
    }
  }
}

}  // namespace

std::int64_t turning_columns(const PositionText& text) {
  return text.scheme == "rotary" ? rotary_columns(rotary_options(text), kHeadWidth) : kHeadWidth;
}

SchemeTraits traits_of(const std::string& scheme) {
  SchemeTraits traits;
  for (const PositionText& text : positions_by_layer(scheme, kLayers)) {
    const PositionFacts facts =
        make_positions(
            text,
            {.width = kWidth, .heads = kHeads, .head_width = kHeadWidth, .key_heads = kKeyHeads})
            ->facts();
    traits.any = traits.any || facts.door != PositionDoor::none;
    traits.relative = traits.relative && facts.shift_keeps == ShiftKeeps::everything;
    traits.turns = traits.turns || facts.door == PositionDoor::turn;
    traits.partial = traits.partial || turning_columns(text) < kHeadWidth;
    traits.learns = traits.learns || facts.parameters > 0;
    if (facts.positions && (traits.positions < 0 || *facts.positions < traits.positions)) {
      traits.positions = *facts.positions;
    }
  }
  return traits;
}

void draw_parameters(LanguageModel& model, std::uint64_t seed, const LanguageModel* but) {
  std::set<std::string> kept;
  if (but != nullptr) {
    for (const NamedParameter& one : but->parameters()) kept.insert(one.name);
  }
  RandomNumbers draws(seed * 31 + 5);
  for (const NamedParameter& parameter : model.parameters()) {
    if (kept.contains(parameter.name)) continue;
    const bool gain =
        parameter.name.find("norm") != std::string::npos && parameter.name.ends_with("weight");
    // Slopes of ALiBi are what they are from the start.
    if (parameter.name.ends_with("slopes")) continue;
    Variable variable = parameter.variable;
    fill(variable.change(), draws, scale_of(parameter), gain ? 1 : 0);
  }
}

LanguageModel& SchemeModels::model(const ModelKind& kind) {
  std::unique_ptr<LanguageModel>& model = made_[kind];
  if (!model) {
    model = std::make_unique<LanguageModel>(options_of(scheme_, kind));
    draw_parameters(*model, seed_);
  }
  return *model;
}

std::unique_ptr<LanguageModel> twin_of(const LanguageModel& from, const std::string& scheme,
                                       bool causal) {
  const LanguageModelOptions& own = from.options();
  auto twin = std::make_unique<LanguageModel>(
      options_of(scheme, {.causal = causal, .dtype = own.stack.dtype}));
  draw_parameters(*twin, 17, &from);
  std::map<std::string, Variable> values;
  for (const NamedParameter& one : from.parameters()) values[one.name] = one.variable;
  for (const NamedParameter& one : twin->parameters()) {
    const auto found = values.find(one.name);
    if (found == values.end() || found->second.shape() != one.variable.shape()) continue;
    Variable(one.variable).replace(copy_of(found->second.view()));
  }
  return twin;
}

Tensor PositionSubject::logits(const LanguageModel& of, const View& ids, const TokenPlaces& places,
                               DType compute) const {
  ForwardOptions how;
  how.compute = compute;
  how.threads = threads;
  how.tokens = places;
  return operation.logits(of, ids, how);
}

Tensor PositionSubject::ids(std::int64_t batch, std::int64_t tokens, std::uint64_t stream) const {
  RandomNumbers numbers = draws(100 + stream);
  Tensor result(DType::int64, Shape{batch, tokens});
  for (std::int64_t i = 0; i < result.size(); ++i) {
    result.data<std::int64_t>()[i] = numbers.below(kVocabulary);
  }
  return result;
}

double distance(const View& a, const View& b) {
  if (a.shape() != b.shape()) return kInfinity;
  const Tensor left = converted(a, DType::float64), right = converted(b, DType::float64);
  double largest = 0, difference = 0;
  for (std::int64_t i = 0; i < left.size(); ++i) {
    const double x = left.data<double>()[i], y = right.data<double>()[i];
    if (!std::isfinite(x) || !std::isfinite(y)) return kInfinity;
    difference = std::max(difference, std::fabs(x - y));
    largest = std::max(largest, std::fabs(y));
  }
  return difference == 0 ? 0 : difference / largest;
}

Tensor counted(std::int64_t batch, std::int64_t tokens, std::int64_t first) {
  Tensor result(DType::int64, Shape{batch, tokens});
  for (std::int64_t i = 0; i < result.size(); ++i) {
    result.data<std::int64_t>()[i] = first + i % std::max<std::int64_t>(tokens, 1);
  }
  return result;
}

double unless_visible(double distance) {
  constexpr double kVisible = 1e-3;  // of the largest logit
  return distance > kVisible ? 0 : kInfinity;
}

}  // namespace volvelle::positions
