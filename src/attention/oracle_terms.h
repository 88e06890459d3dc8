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

/// The slope of the soft cap at the pair: 1 - tanh(s / c)^2, 1 without a cap.
double cap_slope(const ResolvedAttention& problem, const Pair& at);

/// The positions that biases go by.
std::int64_t query_position(const ResolvedAttention& problem, std::int64_t b, std::int64_t i);
std::int64_t key_position(const ResolvedAttention& problem, std::int64_t b, std::int64_t j);

/// One element of any dtype as double.
double element(const Strided4& array, std::int64_t offset);

/// Stores a double in any floating dtype, rounded once.
void store_rounded(const Strided4& array, std::int64_t offset, double value);

/// The key head that a query head reads.
std::int64_t key_head_of(const ResolvedAttention& problem, std::int64_t head, AttentionFault fault);

}  // namespace volvelle
