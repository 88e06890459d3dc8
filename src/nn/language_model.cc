#include "volvelle/nn/language_model.h"

#include <cmath>
#include <string>
#include <utility>

#include "nn/language_model_parts.h"
#include "nn/parameter.h"
#include "nn/parameter_size.h"
#include "nn/placed_tokens.h"
#include "nn/stack_positions.h"
#include "nn/stack_sizes.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/ops/linear_variable.h"
#include "volvelle/ops/scale.h"

namespace volvelle {
namespace {

constexpr const char* kModule = "language model";

const LanguageModelOptions& checked(const LanguageModelOptions& options) {
  check_size(kModule, "vocabulary", options.vocabulary);
  check_size(kModule, "width", options.stack.width);
  const double tables = static_cast<double>(options.vocabulary) * (options.tied ? 1 : 2);
  check_parameters_fit(kModule, tables * static_cast<double>(options.stack.width),
                       options.stack.dtype);
  check_layers(options.stack.layers);
  return options;
}

LanguageHead make_head(const LanguageModelOptions& options, const Embedding& embedding) {
  const DType dtype = options.stack.dtype;
  Variable bias;
  if (options.head_bias) bias = make_parameter(kModule, dtype, {options.vocabulary});
  if (options.tied) return LanguageHead(embedding.weight(), bias);
  return LanguageHead(make_parameter(kModule, dtype, {options.vocabulary, options.stack.width}),
                      bias);
}

}  // namespace

Variable LanguageHead::forward(const Variable& x, const ForwardOptions& how) const {
  return linear(x, weight_, bias_,
                {.dtype = weight_.dtype(),
                 .compute = compute_of(weight_.dtype(), how),
                 .threads = how.threads});
}

LanguageModel::Parts::Parts(const LanguageModelOptions& given, const SplitPositions& split)
    : options(given),
      stack(split.stack),
      embedding(given.vocabulary, given.stack.width, given.stack.dtype),
      head(make_head(given, embedding)) {
  if (split.of_tokens) {
    positions = make_positions(*split.of_tokens, position_context(given.stack));
  }
}

Variable LanguageModel::Parts::hidden(const View& ids, const View& places,
                                      const ForwardOptions& how, StackTrace* trace) const {
  Variable x = embedding.forward(ids);
  if (options.scale_embedding) {
    x = scale(x, std::sqrt(static_cast<double>(options.stack.width)));
  }
  if (positions) x = positions->add_to_tokens(x, places);
  return stack.forward(x, how, trace);
}

LanguageModel::LanguageModel(const LanguageModelOptions& options)
    : parts_(std::make_unique<Parts>(checked(options), split_positions(options))) {
  add_module("embedding", parts_->embedding);
  if (parts_->positions) add_module("positions", *parts_->positions);
  add_module("stack", parts_->stack);
  add_module("head", parts_->head);
}

LanguageModel::~LanguageModel() = default;

const LanguageModelOptions& LanguageModel::options() const noexcept { return parts_->options; }
const Stack& LanguageModel::stack() const noexcept { return parts_->stack; }

Variable LanguageModel::forward(const View& ids, const ForwardOptions& how,
                                StackTrace* trace) const {
  const Parts& parts = *parts_;
  if (!ids || ids.rank() < 1 || ids.rank() > 2) {
    throw InvalidArgument("[" + std::string(kModule) + "] ids " +
                          (ids ? to_string(ids.shape()) : std::string("(absent)")) +
                          " must be (B,T) or (T)");
  }
  if (how.cache != nullptr) {
    throw InvalidArgument("[" + std::string(kModule) +
                          "] a cache is read by extend and step, not by forward");
  }
  const ThreadScope scope(how.threads);
  const std::int64_t batch = ids.rank() == 2 ? ids.shape()[0] : 1;
  const PlacedTokens tokens(how.tokens, batch, ids.shape()[ids.rank() - 1]);
  const Variable x = parts.hidden(ids, tokens.positions().view(), how, trace);
  return parts.head.forward(x, how);
}

void LanguageModel::initialize(Initializer& initializer) {
  Parts& parts = *parts_;
  parts.embedding.initialize(initializer);
  if (parts.positions) parts.positions->initialize(initializer);
  parts.stack.initialize(initializer);
  if (!parts.options.tied) parts.head.initialize(initializer);
}

}  // namespace volvelle
