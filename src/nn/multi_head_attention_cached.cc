// Attention of new tokens over a cache: what they bring is appended, then they see all of it.
#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "attention/turned_heads.h"
#include "nn/cache_step.h"
#include "nn/projected_tokens.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/attention/key_value_cache.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/multi_head_attention.h"
#include "volvelle/nn/positions/scheme.h"

namespace volvelle {
namespace {

// Some heads of token vectors (B,T,C), all rows of the batch.
struct TokenHeads {
  Tensor tokens;
  std::int64_t first = 0, heads = 1, width = 1;

  // The last `count` tokens of rows [row, row + rows) as (rows, heads, count, width).
  template <class AnyView>
  AnyView last(AnyView all, std::int64_t row, std::int64_t rows, std::int64_t count) const {
    const std::int64_t length = tokens.shape()[1], columns = tokens.shape()[2];
    const std::int64_t start = (row * length + length - count) * columns + first;
    using Byte = std::conditional_t<std::is_same_v<AnyView, View>, const char, char>;
    auto* at =
        static_cast<Byte*>(all.data()) + start * static_cast<std::int64_t>(size_of(tokens.dtype()));
    return AnyView(at, tokens.dtype(), {rows, heads, count, width},
                   {length * columns, width, columns, 1});
  }
  View last(std::int64_t row, std::int64_t rows, std::int64_t count) const {
    return last(tokens.view(), row, rows, count);
  }
};

// (rows, count): count positions from each start on.
Tensor positions_from(const std::vector<std::int64_t>& starts, std::int64_t count) {
  Tensor positions(DType::int64, {static_cast<std::int64_t>(starts.size()), count});
  auto* to = positions.data<std::int64_t>();
  for (const std::int64_t start : starts) {
    std::iota(to, to + count, start);
    to += count;
  }
  return positions;
}

}  // namespace

struct MultiHeadAttention::CachedTokens {
  TokenHeads q, k, v;
  TokenHeads read;  // what attention writes

  CachedTokens with_numbers_for(DType stored) const;
};

// Queries and keys that a cache of this dtype does not take go into float32.
MultiHeadAttention::CachedTokens MultiHeadAttention::CachedTokens::with_numbers_for(
    DType stored) const {
  CachedTokens made = *this;
  for (TokenHeads CachedTokens::* part : {&CachedTokens::q, &CachedTokens::k, &CachedTokens::v}) {
    Tensor& tokens = (made.*part).tokens;
    if (tokens.dtype() == DType::float32 || tokens.dtype() == stored) continue;
    tokens = converted(tokens.view(), DType::float32);
  }
  return made;
}

void MultiHeadAttention::attend_cached(const CachedTokens& tokens, std::int64_t row,
                                       std::int64_t rows, const ForwardOptions& how,
                                       const AttentionCall& call) const {
  const CacheStep& step = *how.cache;
  KeyValueCache& cache = step.cache(*this);
  const std::int64_t count = step.count(row);
  std::vector<std::int64_t> starts, lengths;
  for (std::int64_t b = row; b < row + rows; ++b) {
    starts.push_back(step.start(b));
    lengths.push_back(step.start(b) + count);
  }
  AttendVariableOptions attention{.heads = options_.heads,
                                  .key_heads = options_.key_heads,
                                  .rules = call.rules,
                                  .threads = how.threads};
  attention.rules.causal = true;
  if (options_.positions) {
    // A sequence of a cache has no gaps: its tokens stand at their indices.
    options_.positions->enter(attention,
                              {.positions = *std::max_element(lengths.begin(), lengths.end()),
                               .row_lengths = View(lengths.data(), {rows})});
  }
  AttentionProblem problem = attention_rules(attention);
  problem.q = tokens.q.last(row, rows, count);
  View keys = tokens.k.last(row, rows, count);
  Tensor turned;
  if (problem.rotary && !keys_turn_late_) {
    const RotaryTables& tables = attention.rotary;
    turned = turned_heads(keys, tables.key_cosines ? tables.key_cosines : tables.cosines,
                          tables.key_sines ? tables.key_sines : tables.sines, tables.pairing,
                          positions_from(starts, count), how.threads);
    keys = turned.view();
    problem.rotary.key_cosines = problem.rotary.key_sines = {};
    problem.rotary.keys_are_turned = true;
  }
  const std::vector<Sequence> names = step.names(*this, row, rows);
  cache.append(names, keys, tokens.v.last(row, rows, count));
  Tensor read = tokens.read.tokens;
  attend(problem, cache, names, {.output = tokens.read.last(read.mutable_view(), row, rows, count)},
         {.threads = how.threads});
}

Variable MultiHeadAttention::forward_cached(const Variable& x, const ForwardOptions& how,
                                            const AttentionCall& call) const {
  if (call.memory) {
    throw Unsupported(
        "[multi-head attention] a cache holds the sequence's own tokens, not those of a memory; "
        "run attention over a memory without ForwardOptions::cache");
  }
  const std::int64_t queries = options_.heads * options_.head_width;
  const std::int64_t keys = options_.key_heads * options_.head_width;
  const auto heads = [&](const Variable& all, std::int64_t first, std::int64_t count) {
    return TokenHeads{all.value(), first, count, options_.head_width};
  };
  CachedTokens tokens;
  if (options_.separate || q_norm_) {
    const Projected apart = project_apart(x, {}, how);
    tokens = {heads(apart.q, 0, options_.heads),
              heads(apart.k, 0, options_.key_heads),
              heads(apart.v, 0, options_.key_heads),
              {}};
  } else {
    const Variable all = project_packed(x, how);
    tokens = {heads(all, 0, options_.heads),
              heads(all, queries, options_.key_heads),
              heads(all, queries + keys, options_.key_heads),
              {}};
  }
  const CacheStep& step = *how.cache;
  tokens = tokens.with_numbers_for(step.cache(*this).options().dtype);
  const std::int64_t batch = x.shape()[0], length = x.shape()[1];
  // Nothing is written where padding stands.
  tokens.read = {Tensor::zeros(tokens.q.tokens.dtype(), {batch, length, queries}), 0,
                 options_.heads, options_.head_width};
  bool whole = true;
  for (std::int64_t b = 0; b < batch; ++b) whole = whole && step.count(b) == length;
  if (whole) {
    attend_cached(tokens, 0, batch, how, call);
  } else {
    // By themselves, rows of different lengths have the bits that they have alone.
    for (std::int64_t b = 0; b < batch; ++b) {
      if (step.count(b) > 0) attend_cached(tokens, b, 1, how, call);
    }
  }
  return out_proj_.forward(Variable(tokens.read.tokens), how,
                           {.residual = call.residual, .dtype = options_.dtype});
}

}  // namespace volvelle
