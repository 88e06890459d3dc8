#include "volvelle/nn/block.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "nn/dropout_place.h"
#include "nn/parameter.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/feed_forward.h"
#include "volvelle/nn/multi_head_attention.h"
#include "volvelle/nn/norm.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/dropout.h"
#include "volvelle/ops/scale.h"

namespace volvelle {
namespace {

struct BuiltBranch {
  std::unique_ptr<MultiHeadAttention> attention;
  std::unique_ptr<FeedForward> feed_forward;
  std::unique_ptr<Norm> before, after;
  double factor = 1;
  bool shared = false;  // reads the step's shared norm
};

struct BuiltStep {
  double stream_factor = 1;
  std::unique_ptr<Norm> shared, stream;
  std::vector<BuiltBranch> branches;
};

std::unique_ptr<MultiHeadAttention> make_attention(const StackOptions& options,
                                                   std::shared_ptr<PositionScheme> positions) {
  return std::make_unique<MultiHeadAttention>(
      MultiHeadAttentionOptions{.width = options.width,
                                .heads = options.heads,
                                .key_heads = options.key_heads,
                                .head_width = options.head_width,
                                .biases = options.biases,
                                .separate = options.separate_projections,
                                .query_key_norm = options.query_key_norm,
                                .query_key_epsilon = options.epsilon == 0 ? 1e-6 : options.epsilon,
                                .causal = options.causal,
                                .positions = std::move(positions),
                                .dropout = options.dropout,
                                .dtype = options.dtype});
}

std::unique_ptr<FeedForward> make_feed_forward(const StackOptions& options) {
  return std::make_unique<FeedForward>(FeedForwardOptions{.width = options.width,
                                                          .feed_forward = options.feed_forward,
                                                          .activation = options.activation,
                                                          .gated = options.gated,
                                                          .biases = options.biases,
                                                          .dropout = options.dropout,
                                                          .dtype = options.dtype});
}

std::unique_ptr<Norm> make_slot(NormSlot slot, const StackOptions& options) {
  if (slot == NormSlot::none) return nullptr;
  const NormKind kind = slot == NormSlot::layer ? NormKind::layer
                        : slot == NormSlot::rms ? NormKind::rms
                                                : options.norm;
  return make_norm(kind, options.width, options.epsilon, options.dtype);
}

void check_placement(const NormPlacement& placement) {
  if (placement.steps.empty()) throw InvalidArgument("[block] a placement needs a step");
  for (const PlacementStep& step : placement.steps) {
    if (step.branches.empty()) throw InvalidArgument("[block] a step needs a sublayer");
    bool finite = !step.stream_factor || std::isfinite(*step.stream_factor);
    for (const PlacementBranch& branch : step.branches) {
      finite = finite && std::isfinite(branch.factor);
      if (!branch.shared || branch.before == NormSlot::usual) continue;
      throw InvalidArgument("[block] the norm that branches of a step share is of the usual kind");
    }
    if (!finite) throw InvalidArgument("[block] factors of a placement must be finite");
  }
}

BuiltBranch build(const PlacementBranch& branch, const StackOptions& options,
                  const std::shared_ptr<PositionScheme>& positions) {
  BuiltBranch built;
  if (branch.sublayer == Sublayer::attention) {
    built.attention = make_attention(options, positions);
  } else {
    built.feed_forward = make_feed_forward(options);
  }
  if (!branch.shared) built.before = make_slot(branch.before, options);
  built.after = make_slot(branch.after, options);
  built.factor = branch.factor;
  built.shared = branch.shared;
  return built;
}

std::string numbered(const std::string& name, int number) {
  return number == 1 ? name : name + "_" + std::to_string(number);
}

}  // namespace

struct Block::Parts {
  NormPlacement placement;
  std::vector<BuiltStep> steps;
  double dropout = 0;
  double initial_factor = 1;

  Variable run(const BuiltStep& step, const Variable& x, const ForwardOptions& how,
               std::vector<Variable>* branches, std::int64_t place) const;
  Variable branch(const BuiltBranch& branch, const Variable& input, const ForwardOptions& how,
                  const Variable& residual) const;
};

Block::Block(const StackOptions& options, const NormPlacement& placement,
             std::shared_ptr<PositionScheme> positions)
    : parts_(std::make_unique<Parts>()) {
  check_placement(placement);
  if (!positions && options.positions != "none") {
    throw InvalidArgument("[block] positions '" + options.positions +
                          "' are for a stack to read; give the block its scheme (make_positions)");
  }
  check_dropout("block", options.dropout);
  const DepthFactors depth = depth_factors(options.layers);
  parts_->placement = placement;
  parts_->dropout = options.dropout;
  if (has_depth_factor(placement)) parts_->initial_factor = depth.beta;
  for (const PlacementStep& step : placement.steps) {
    BuiltStep built;
    built.stream_factor = step.stream_factor.value_or(depth.alpha);
    for (const PlacementBranch& branch : step.branches) {
      if (branch.shared && !built.shared) built.shared = make_slot(branch.before, options);
      built.branches.push_back(build(branch, options, positions));
    }
    built.stream = make_slot(step.stream, options);
    parts_->steps.push_back(std::move(built));
  }

  int attentions = 0, feed_forwards = 0, norms = 0;
  const auto each_branch = [&](const auto& visit) {
    for (const BuiltStep& step : parts_->steps) {
      for (const BuiltBranch& branch : step.branches) visit(branch);
    }
  };
  each_branch([&](const BuiltBranch& branch) {
    if (branch.attention) add_module(numbered("self_attn", ++attentions), *branch.attention);
  });
  each_branch([&](const BuiltBranch& branch) {
    if (!branch.feed_forward) return;
    ++feed_forwards;  // the first one's layers are the block's own, as in PyTorch
    add_module(feed_forwards == 1 ? "" : numbered("feed_forward", feed_forwards),
               *branch.feed_forward);
  });
  const auto add_norm = [&](const std::unique_ptr<Norm>& norm) {
    if (norm) add_module("norm" + std::to_string(++norms), *norm);
  };
  for (const BuiltStep& step : parts_->steps) {
    add_norm(step.shared);
    for (const BuiltBranch& branch : step.branches) {
      add_norm(branch.before);
      add_norm(branch.after);
    }
    add_norm(step.stream);
  }
}

Block::~Block() = default;

const NormPlacement& Block::placement() const noexcept { return parts_->placement; }

std::vector<const MultiHeadAttention*> Block::attentions() const {
  std::vector<const MultiHeadAttention*> all;
  for (const BuiltStep& step : parts_->steps) {
    for (const BuiltBranch& branch : step.branches) {
      if (branch.attention) all.push_back(branch.attention.get());
    }
  }
  return all;
}

Variable Block::Parts::branch(const BuiltBranch& branch, const Variable& input,
                              const ForwardOptions& how, const Variable& residual) const {
  if (branch.attention) return branch.attention->forward(input, how, {.residual = residual});
  return branch.feed_forward->forward(input, how, residual);
}

// R(m * x + sum of c * P(f(N(x)))). What can be added while a sublayer's last product is stored is.
Variable Block::Parts::run(const BuiltStep& step, const Variable& x, const ForwardOptions& how,
                           std::vector<Variable>* branches, std::int64_t place) const {
  const bool drops = how.training && dropout > 0;
  const auto normed = [&](const Norm& norm) {
    return norm.forward(x, how, between_products(x.dtype(), how));
  };
  const Variable shared = step.shared ? normed(*step.shared) : Variable();
  Variable sum = step.stream_factor == 1 ? x : scale(x, step.stream_factor);
  Variable added;
  for (const BuiltBranch& part : step.branches) {
    const ForwardOptions own = at_place(how, place++);
    const Variable input = part.shared ? shared : part.before ? normed(*part.before) : x;
    if (!part.after && part.factor == 1 && !drops && branches == nullptr) {
      sum = branch(part, input, own, sum);
      continue;
    }
    Variable made = branch(part, input, own, {});
    if (drops) made = volvelle::dropout(made, dropout, at_place(own, 1).dropout_seed);
    if (part.after) made = part.after->forward(made, how);
    if (part.factor != 1) made = scale(made, part.factor);
    if (branches != nullptr) added = added ? add(added, made) : made;
    sum = add(sum, made);
  }
  if (branches != nullptr) branches->push_back(added);
  return step.stream ? step.stream->forward(sum, how) : sum;
}

Variable Block::forward(const Variable& x, const ForwardOptions& how,
                        std::vector<Variable>* branches) const {
  Variable stream = x;
  std::int64_t place = 0;
  for (const BuiltStep& step : parts_->steps) {
    stream = parts_->run(step, stream, how, branches, place);
    place += static_cast<std::int64_t>(step.branches.size());
  }
  return stream;
}

void Block::initialize(Initializer& initializer) {
  const auto each = [&](const auto& visit) {
    for (BuiltStep& step : parts_->steps) {
      for (BuiltBranch& branch : step.branches) visit(branch);
    }
  };
  each([&](BuiltBranch& branch) {
    if (branch.attention) branch.attention->initialize(initializer);
  });
  each([&](BuiltBranch& branch) {
    if (branch.feed_forward) branch.feed_forward->initialize(initializer);
  });
  const double beta = parts_->initial_factor;
  if (beta == 1) return;
  each([&](BuiltBranch& branch) {
    if (branch.attention) branch.attention->scale_values(beta);
    if (branch.feed_forward) branch.feed_forward->scale_weights(beta);
  });
}

}  // namespace volvelle
