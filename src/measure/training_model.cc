#include "measure/training_model.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/random_numbers.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

constexpr double kSpread = 0.02;
constexpr std::uint64_t kTokenSeed = 1000;

LanguageModelOptions options_of(const TrainingShape& shape, DType dtype) {
  LanguageModelOptions options;
  options.stack.layers = shape.layers;
  options.stack.width = shape.width;
  options.stack.heads = shape.heads;
  options.stack.feed_forward = 4 * shape.width;
  options.stack.placement = "pre";
  options.stack.activation = Activation::gelu_tanh;
  options.stack.final_norm = FinalNorm::yes;
  options.stack.causal = true;
  options.stack.dtype = dtype;
  options.vocabulary = shape.vocabulary;
  options.positions = "learned(rows=" + std::to_string(shape.tokens) + ")";
  options.tied = true;
  return options;
}

void fill(float* to, std::int64_t count, std::uint64_t seed) {
  RandomNumbers random(seed);
  const double reach = kSpread * std::sqrt(3.0);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(reach * random.unit());
}

// Matrices by the formula, in float32 whatever the parameter's dtype; the constructors' values stay
// in all others.
void fill_matrices(const Module& model) {
  std::uint64_t matrix = 0;
  for (NamedParameter& parameter : model.parameters()) {
    Variable& variable = parameter.variable;
    if (variable.rank() < 2) continue;
    Tensor values(DType::float32, variable.shape());
    fill(values.data<float>(), values.size(), matrix++);
    variable.replace(variable.dtype() == DType::float32
                         ? std::move(values)
                         : converted(values.view(), variable.dtype()));
  }
}

}  // namespace

TrainingModel::TrainingModel(const TrainingShape& shape, DType dtype)
    : model(options_of(shape, dtype)),
      ids(DType::int64, {shape.batch, shape.tokens}),
      labels(DType::int64, {shape.batch, shape.tokens}) {
  fill_matrices(model);
  RandomNumbers random(kTokenSeed);
  auto* id = ids.data<std::int64_t>();
  auto* label = labels.data<std::int64_t>();
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    std::int64_t token = random.below(shape.vocabulary);
    for (std::int64_t t = 0; t < shape.tokens; ++t) {
      *id++ = token;
      token = random.below(shape.vocabulary);
      *label++ = token;
    }
  }
}

Variable TrainingModel::loss(const ForwardOptions& how) const {
  return cross_entropy(model.forward(ids.view(), how), labels.view(), {.threads = how.threads});
}

}  // namespace volvelle
