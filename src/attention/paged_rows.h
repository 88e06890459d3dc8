#pragma once

#include <cstdint>
#include <vector>

#include "attention/key_value_pages.h"
#include "attention/resolved.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The sequences of a cache that stand for the keys and values of one call, row by row.
struct PagedRows {
  const KeyValueCache::Pages* pages = nullptr;
  std::vector<const KeyValueCache::Pages::Tokens*> rows;  ///< of each batch row
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> offsets;  ///< length - T: where each row's first query stands
};

/// Checks a problem over a cache against the contract and lays it out; `rows` must outlive the
/// result. Throws InvalidArgument.
ResolvedAttention resolve(const AttentionProblem& problem, const KeyValueCache& cache,
                          std::span<const Sequence> sequences, PagedRows& rows);

/// The keys and values of a problem over a cache, copied together in q's dtype for the paths that
/// read plain arrays. Tokens that are not stored are 0; no query sees them.
struct GatheredTokens {
  explicit GatheredTokens(const ResolvedAttention& problem);

  Tensor k, v;
  ResolvedAttention problem;  ///< the same problem over them
};

}  // namespace volvelle
