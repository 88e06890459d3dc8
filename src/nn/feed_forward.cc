#include "volvelle/nn/feed_forward.h"

#include "nn/dropout_place.h"
#include "nn/parameter.h"
#include "nn/scale_rows.h"
#include "volvelle/ops/dropout.h"

namespace volvelle {
namespace {

const FeedForwardOptions& checked(const FeedForwardOptions& options) {
  check_size("feed forward", "width", options.width);
  check_size("feed forward", "feed_forward", options.feed_forward);
  check_dropout("feed forward", options.dropout);
  return options;
}

Bias bias_of(const FeedForwardOptions& options) {
  return options.biases ? Bias::with : Bias::without;
}

}  // namespace

FeedForward::FeedForward(const FeedForwardOptions& options)
    : options_(checked(options)),
      linear1_(options.width, options.feed_forward, bias_of(options), options.dtype),
      linear2_(options.feed_forward, options.width, bias_of(options), options.dtype) {
  if (options.gated) {
    gate_.emplace(options.width, options.feed_forward, bias_of(options), options.dtype);
    add_module("gate", *gate_);
  }
  add_module("linear1", linear1_);
  add_module("linear2", linear2_);
}

Variable FeedForward::hidden(const Variable& x, const ForwardOptions& how) const {
  const DType dtype = between_products(options_.dtype, how);
  if (!gate_) {
    return linear1_.forward(x, how, {.activation = options_.activation, .dtype = dtype});
  }
  return gated_linear(x, gate_->weight(), linear1_.weight(), gate_->bias(), linear1_.bias(),
                      {.activation = options_.activation,
                       .dtype = dtype,
                       .compute = compute_of(options_.dtype, how),
                       .threads = how.threads});
}

Variable FeedForward::forward(const Variable& x, const ForwardOptions& how,
                              const Variable& residual) const {
  Variable between = hidden(x, how);
  if (how.training && options_.dropout > 0) {
    between = dropout(between, options_.dropout, at_place(how, 0).dropout_seed);
  }
  return linear2_.forward(between, how, {.residual = residual, .dtype = options_.dtype});
}

void FeedForward::initialize(Initializer& initializer) {
  if (gate_) gate_->initialize(initializer);
  linear1_.initialize(initializer);
  linear2_.initialize_branch_end(initializer);
}

void FeedForward::scale_weights(double factor) {
  for (const Linear* layer : {&linear1_, &linear2_}) {
    Variable weight = layer->weight();
    scale_rows(weight, 0, weight.shape()[0], factor);
  }
}

}  // namespace volvelle
