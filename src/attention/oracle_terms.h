#pragma once

#include <cstdint>

#include "attention/oracle.h"
#include "attention/resolved.h"
#include "volvelle/base/half.h"

namespace volvelle {

/// One query and one key of one head.
struct Pair {
  std::int64_t b, h, i, j;
};

/// Whether the query sees the key: DESIGN.md's predicates, one after the other.
bool sees(const ResolvedAttention& problem, const Pair& at, AttentionFault fault);

/// The score of the pair before exclusion. q and k are as they stand: `rotary` is not looked at
/// (OracleTurns turns them before).
double score(const ResolvedAttention& problem, const Pair& at, AttentionFault fault);

/// The slope of the soft cap at the pair: 1 - tanh(s / c)^2, 1 without a cap.
double cap_slope(const ResolvedAttention& problem, const Pair& at);

/// The positions that turns, vectors and biases go by.
std::int64_t query_position(const ResolvedAttention& problem, std::int64_t b, std::int64_t i);
std::int64_t key_position(const ResolvedAttention& problem, std::int64_t b, std::int64_t j);

/// Which of `vectors` the pair meets, and element d of it.
std::int64_t relative_entry(const ResolvedAttention& problem, const RelativeVectors& vectors,
                            const Pair& at, AttentionFault fault = AttentionFault::none);
double relative_element(const ResolvedAttention& problem, const RelativeVectors& vectors,
                        const Pair& at, std::int64_t d,
                        AttentionFault fault = AttentionFault::none);

/// A number of any element type as double.
inline double as_double(Float16 value) { return static_cast<double>(to_float(value)); }
inline double as_double(BFloat16 value) { return static_cast<double>(to_float(value)); }
template <class T>
double as_double(T value) {
  return static_cast<double>(value);
}

/// One element of any dtype as double.
double element(const Strided4& array, std::int64_t offset);

/// Stores a double in any floating dtype, rounded once.
void store_rounded(const Strided4& array, std::int64_t offset, double value);

/// The key head that a query head reads.
std::int64_t key_head_of(const ResolvedAttention& problem, std::int64_t head, AttentionFault fault);

}  // namespace volvelle
