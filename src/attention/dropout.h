#pragma once

#include <cstdint>

#include "attention/resolved.h"
#include "kernels/attention_dropout.h"

namespace volvelle {

/// Longest batch, head and token axes under which no two cells share a word of the stream.
inline constexpr std::int64_t kMostDropoutPlanes = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostDropoutTokens = std::int64_t{1} << 34;

/// The stream of one head of a problem, for kernels and for the functions below.
kernels::DropoutStream dropout_stream(const ResolvedAttention& problem, std::int64_t b,
                                      std::int64_t h);

/// The factor of one weight: 0 where it is dropped, else 1 / (1 - p). Written from the definition
/// in kernels/attention_dropout.h, beside which the kernels are tested.
double dropout_factor(const kernels::DropoutStream& stream, std::int64_t query, std::int64_t key);

}  // namespace volvelle
