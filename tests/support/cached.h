#pragma once

#include <cstdint>
#include <vector>

#include "support/routes.h"
#include "volvelle/attention/key_value_cache.h"

namespace volvelle::testing {

/// A cache that holds the keys and values of a plain problem, and the problem over it.
struct Cached {
  KeyValueCache cache;
  std::vector<Sequence> sequences;
  AttentionProblem problem;  ///< without k and v
  AttentionProblem plain;    ///< with what the cache implies: key lengths and query offsets
  std::vector<Tensor> memory;
};

/// Row b holds the first lengths[b] tokens, the longest S of them; each sequence is appended to in
/// pieces of 1, 2, 3, ... tokens in turn (`pieces`) or at once. The plain problem's own key lengths
/// go.
Cached cached(const AttentionProblem& problem, const std::vector<std::int64_t>& lengths,
              DType stored, bool pieces = true);

/// As answer() of a plain problem, over the cache.
Answer cached_answer(const Cached& cached, const Route& route, int threads = 1);

}  // namespace volvelle::testing
