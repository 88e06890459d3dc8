#include "volvelle/nn/multi_head_attention.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nn/dropout_place.h"
#include "nn/enter_positions.h"
#include "nn/parameter.h"
#include "nn/placed_tokens.h"
#include "nn/projected_tokens.h"
#include "nn/scale_rows.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/positions/scheme.h"
#include "volvelle/ops/linear_variable.h"
#include "volvelle/ops/reshape.h"
#include "volvelle/ops/rows.h"
#include "volvelle/ops/split.h"

namespace volvelle {
namespace {

constexpr const char* kModule = "multi-head attention";

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[" + std::string(kModule) + "] " + text);
}

// Options with every number filled in.
MultiHeadAttentionOptions complete(MultiHeadAttentionOptions options) {
  check_size(kModule, "width", options.width);
  check_size(kModule, "heads", options.heads);
  if (options.key_heads == 0) options.key_heads = options.heads;
  check_size(kModule, "key_heads", options.key_heads);
  if (options.heads % options.key_heads != 0) {
    refuse("heads=" + std::to_string(options.heads) +
           " is not a multiple of key_heads=" + std::to_string(options.key_heads));
  }
  if (options.head_width == 0) {
    if (options.width % options.heads != 0) {
      refuse("width=" + std::to_string(options.width) + " is not a multiple of heads=" +
             std::to_string(options.heads) + "; choose another number of heads or give head_width");
    }
    options.head_width = options.width / options.heads;
  }
  check_size(kModule, "head_width", options.head_width);
  if (options.memory_width == 0) options.memory_width = options.width;
  check_size(kModule, "memory_width", options.memory_width);
  if (options.memory_width != options.width) options.separate = true;
  check_dropout(kModule, options.dropout);
  if (options.positions) check_enters_attention(kModule, *options.positions);
  return options;
}

std::int64_t query_columns(const MultiHeadAttentionOptions& options) {
  return options.heads * options.head_width;
}

std::int64_t key_columns(const MultiHeadAttentionOptions& options) {
  return options.key_heads * options.head_width;
}

// RMS norm over each head's own columns.
Variable normed_heads(const Variable& tokens, const RmsNorm& norm, std::int64_t heads,
                      const ForwardOptions& how) {
  const Shape shape = tokens.shape();
  Shape by_head;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) by_head.push_back(shape[axis]);
  by_head.push_back(heads);
  by_head.push_back(shape[shape.rank() - 1] / heads);
  return reshape(norm.forward(reshape(tokens, by_head), how), shape);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : options_(complete(options)),
      out_proj_(query_columns(options_), options_.width,
                options_.biases ? Bias::with : Bias::without, options_.dtype) {
  const std::int64_t queries = query_columns(options_);
  const std::int64_t keys = key_columns(options_);
  const auto make = [&](std::int64_t rows, std::int64_t columns) {
    return make_parameter(kModule, options_.dtype, {rows, columns});
  };
  if (options_.separate) {
    q_proj_weight_ = make(queries, options_.width);
    k_proj_weight_ = make(keys, options_.memory_width);
    v_proj_weight_ = make(keys, options_.memory_width);
  } else {
    in_proj_weight_ = make(queries + 2 * keys, options_.width);
  }
  if (options_.biases) {
    in_proj_bias_ = make_parameter(kModule, options_.dtype, {queries + 2 * keys});
  }
  add_parameter("in_proj_weight", in_proj_weight_);
  add_parameter("q_proj_weight", q_proj_weight_);
  add_parameter("k_proj_weight", k_proj_weight_);
  add_parameter("v_proj_weight", v_proj_weight_);
  add_parameter("in_proj_bias", in_proj_bias_);
  add_module("out_proj", out_proj_);
  if (options_.query_key_norm) {
    q_norm_.emplace(options_.head_width, options_.query_key_epsilon, options_.dtype);
    k_norm_.emplace(options_.head_width, options_.query_key_epsilon, options_.dtype);
    add_module("q_norm", *q_norm_);
    add_module("k_norm", *k_norm_);
  }
  if (!options_.positions) return;
  add_module("positions", *options_.positions);
  const PositionFacts facts = options_.positions->facts();
  keys_turn_late_ = facts.door == PositionDoor::turn && !facts.keys_cached_turned;
}

Variable MultiHeadAttention::project_packed(const Variable& x, const ForwardOptions& how) const {
  return linear(x, in_proj_weight_, in_proj_bias_,
                {.dtype = between_products(options_.dtype, how),
                 .compute = compute_of(options_.dtype, how),
                 .threads = how.threads});
}

MultiHeadAttention::Projected MultiHeadAttention::project(const Variable& x, const Variable& memory,
                                                          const ForwardOptions& how) const {
  const std::int64_t queries = query_columns(options_);
  const std::int64_t keys = key_columns(options_);
  const auto projected = [&](const Variable& tokens, const Variable& own, std::int64_t first,
                             std::int64_t count) {
    const Variable weight = own ? own : rows(in_proj_weight_, first, count);
    const Variable bias = in_proj_bias_ ? rows(in_proj_bias_, first, count) : Variable();
    return linear(tokens, weight, bias,
                  {.dtype = between_products(options_.dtype, how),
                   .compute = compute_of(options_.dtype, how),
                   .threads = how.threads});
  };
  return {projected(x, q_proj_weight_, 0, queries),
          projected(memory, k_proj_weight_, queries, keys),
          projected(memory, v_proj_weight_, queries + keys, keys)};
}

MultiHeadAttention::Projected MultiHeadAttention::project_apart(const Variable& x,
                                                                const Variable& memory,
                                                                const ForwardOptions& how) const {
  if (options_.separate || memory) {
    return with_normed_heads(project(x, memory ? memory : x, how), how);
  }
  std::vector<Variable> parts =
      split(project_packed(x, how),
            std::vector<std::int64_t>{query_columns(options_), key_columns(options_),
                                      key_columns(options_)});
  return with_normed_heads({parts[0], parts[1], parts[2]}, how);
}

MultiHeadAttention::Projected MultiHeadAttention::with_normed_heads(
    Projected projected, const ForwardOptions& how) const {
  if (!q_norm_) return projected;
  return {normed_heads(projected.q, *q_norm_, options_.heads, how),
          normed_heads(projected.k, *k_norm_, options_.key_heads, how), std::move(projected.v)};
}

void MultiHeadAttention::enter_positions(AttendVariableOptions& attention,
                                         const AttentionCall& call, PlacedTokens& tokens) const {
  AttentionProblem& rules = attention.rules;
  const bool given = rules.query_positions || rules.key_positions;
  if (given && tokens.has_positions()) {
    refuse("positions are given twice: as token places and among the call's rules");
  }
  if (!call.memory && !given) {
    return volvelle::enter_positions(kModule, *options_.positions, tokens, attention);
  }
  if (!rules.query_positions || !rules.key_positions) {
    refuse(
        "positions of queries and of keys are both needed: with a position scheme, and a memory or "
        "positions of its own, give query_positions and key_positions among the call's rules");
  }
  AttentionPlaces places{.query_positions = rules.query_positions,
                         .key_positions = rules.key_positions};
  places.positions = std::max(position_bound("query_positions", rules.query_positions),
                              position_bound("key_positions", rules.key_positions));
  options_.positions->enter(attention, places);
}

Variable MultiHeadAttention::forward(const Variable& x, const ForwardOptions& how,
                                     const AttentionCall& call) const {
  if (call.rules.dropout != 0) {
    refuse("dropout is the module's own (" + std::to_string(options_.dropout) +
           "); leave it out of the call's rules");
  }
  if (how.cache != nullptr) return forward_cached(x, how, call);
  AttendVariableOptions attention{.heads = options_.heads,
                                  .key_heads = options_.key_heads,
                                  .rules = call.rules,
                                  .threads = how.threads};
  attention.rules.causal = call.rules.causal || options_.causal;
  const bool batched = x && x.rank() == 3;
  PlacedTokens tokens(how.tokens, batched ? x.shape()[0] : 1,
                      x && x.rank() >= 2 ? x.shape()[x.rank() - 2] : 0);
  if (!call.memory) {
    tokens.exclude(attention.rules);
  } else if (tokens.has_segments()) {
    refuse(
        "segments say which tokens of one sequence belong together, not which of a memory they "
        "see; give query_segments and key_segments among the call's rules");
  }
  if (options_.positions) enter_positions(attention, call, tokens);
  if (how.training) {
    attention.rules.dropout = options_.dropout;
    attention.rules.dropout_seed = at_place(how, 0).dropout_seed;
  }

  Variable read;
  if (options_.separate || call.memory || q_norm_) {
    const Projected apart = project_apart(x, call.memory, how);
    read = attend(apart.q, apart.k, apart.v, attention);
  } else {
    read = attend_packed(project_packed(x, how), attention);
  }
  return out_proj_.forward(read, how, {.residual = call.residual, .dtype = options_.dtype});
}

void MultiHeadAttention::initialize(Initializer& initializer) {
  AttentionParameters parameters{.in_proj_weight = in_proj_weight_,
                                 .in_proj_bias = in_proj_bias_,
                                 .q_weight = q_proj_weight_,
                                 .k_weight = k_proj_weight_,
                                 .v_weight = v_proj_weight_,
                                 .q_bias = {},
                                 .k_bias = {},
                                 .v_bias = {},
                                 .out_weight = out_proj_.weight(),
                                 .out_bias = out_proj_.bias()};
  initializer.attention(parameters);
}

void MultiHeadAttention::scale_values(double factor) {
  const std::int64_t queries = query_columns(options_);
  const std::int64_t keys = key_columns(options_);
  if (options_.separate) {
    scale_rows(v_proj_weight_, 0, keys, factor);
  } else {
    scale_rows(in_proj_weight_, queries + keys, keys, factor);
  }
  Variable out = out_proj_.weight();
  scale_rows(out, 0, options_.width, factor);
}

}  // namespace volvelle
