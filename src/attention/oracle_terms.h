#pragma once

#include <cstdint>

#include "attention/oracle.h"
#include "attention/resolved.h"

namespace volvelle {

/// One query and one key of one head.
struct Pair {
  std::int64_t b, h, i, j;
};

/// Whether the query sees the key: DESIGN.md's predicates, one after the other.
bool sees(const ResolvedAttention& problem, const Pair& at, AttentionFault fault);

/// The score of the pair before exclusion.
double score(const ResolvedAttention& problem, const Pair& at, AttentionFault fault);

/// One element of any dtype as double.
double element(const Strided4& array, std::int64_t offset);

/// The key head that a query head reads.
std::int64_t key_head_of(const ResolvedAttention& problem, std::int64_t head, AttentionFault fault);

}  // namespace volvelle
