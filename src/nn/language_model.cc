#include "volvelle/nn/language_model.h"

#include <optional>
#include <string>
#include <utility>

#include "nn/parameter.h"
#include "nn/parameter_size.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/nn/embedding.h"
#include "volvelle/nn/placement.h"
#include "volvelle/nn/positions/learned.h"
#include "volvelle/ops/linear_variable.h"

namespace volvelle {
namespace {

constexpr const char* kModule = "language model";

const LanguageModelOptions& checked(const LanguageModelOptions& options) {
  check_size(kModule, "vocabulary", options.vocabulary);
  if (options.context < 0) check_size(kModule, "context", options.context);
  check_size(kModule, "width", options.stack.width);
  const double tables = static_cast<double>(options.vocabulary) * (options.tied ? 1 : 2) +
                        static_cast<double>(options.context);
  check_parameters_fit(kModule, tables * static_cast<double>(options.stack.width),
                       options.stack.dtype);
  return options;
}

// The last product; its weight may be somebody else's, under a second name.
class Head : public Module {
 public:
  Head(Variable weight, Variable bias) : weight_(std::move(weight)), bias_(std::move(bias)) {
    add_parameter("weight", weight_);
    add_parameter("bias", bias_);
  }
  Variable forward(const Variable& x, const ForwardOptions& how) const {
    return linear(x, weight_, bias_,
                  {.dtype = weight_.dtype(),
                   .compute = compute_of(weight_.dtype(), how),
                   .threads = how.threads});
  }
  void initialize(Initializer& initializer) { initializer.linear(weight_, bias_); }

 private:
  Variable weight_, bias_;
};

Head make_head(const LanguageModelOptions& options, const Embedding& embedding) {
  const DType dtype = options.stack.dtype;
  Variable bias;
  if (options.head_bias) bias = make_parameter(kModule, dtype, {options.vocabulary});
  if (options.tied) return Head(embedding.weight(), bias);
  return Head(make_parameter(kModule, dtype, {options.vocabulary, options.stack.width}), bias);
}

}  // namespace

struct LanguageModel::Parts {
  explicit Parts(const LanguageModelOptions& given)
      : options(checked(given)),
        stack(given.stack),
        embedding(given.vocabulary, given.stack.width, given.stack.dtype),
        head(make_head(given, embedding)) {
    if (given.context > 0) {
      positions.emplace(given.context, given.stack.width, given.stack.dtype);
    }
  }

  LanguageModelOptions options;
  Stack stack;
  Embedding embedding;
  std::optional<LearnedPositions> positions;
  Head head;
};

LanguageModel::LanguageModel(const LanguageModelOptions& options)
    : parts_(std::make_unique<Parts>(options)) {
  add_module("embedding", parts_->embedding);
  if (parts_->positions) add_module("positions", *parts_->positions);
  add_module("stack", parts_->stack);
  add_module("head", parts_->head);
}

LanguageModel::~LanguageModel() = default;

const LanguageModelOptions& LanguageModel::options() const noexcept { return parts_->options; }

Variable LanguageModel::forward(const View& ids, const ForwardOptions& how,
                                StackTrace* trace) const {
  const Parts& parts = *parts_;
  if (!ids || ids.rank() < 1 || ids.rank() > 2) {
    throw InvalidArgument("[" + std::string(kModule) + "] ids " +
                          (ids ? to_string(ids.shape()) : std::string("(absent)")) +
                          " must be (B,T) or (T)");
  }
  const ThreadScope scope(how.threads);
  Variable x = parts.embedding.forward(ids);
  if (parts.positions) x = parts.positions->forward(x);
  return parts.head.forward(parts.stack.forward(x, how, trace), how);
}

void LanguageModel::initialize(Initializer& initializer) {
  Parts& parts = *parts_;
  parts.embedding.initialize(initializer);
  if (parts.positions) parts.positions->initialize(initializer);
  parts.stack.initialize(initializer);
  if (!parts.options.tied) parts.head.initialize(initializer);
}

}  // namespace volvelle
