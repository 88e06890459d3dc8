#pragma once

#include <cstdint>

#include "attention/resolved.h"

namespace volvelle {

/// Most queries of a head that count as few.
inline constexpr int kFewQueries = 16;
/// Keys of a part. Parts start at multiples of it, counted from key 0.
inline constexpr std::int64_t kPartKeys = 512;

/// Whether attend_few() takes a problem: up to 16 queries, no dropout, not float64, and for plain
/// keys more than 16 of them, for fewer are sooner met by a panel. It depends on what every batch
/// row shares; over a cache never on S, the longest length, so that a row's bits do not depend on
/// its neighbours.
bool has_few_queries(const ResolvedAttention& problem);

/// Attention of few queries over many keys, at the speed at which memory gives them. All query
/// heads of one key head go together, so that grouped heads read each key once; keys are cut into
/// parts that threads share, and a row's parts are put together in the order of its keys.
/// Bits: a row's result depends on its own problem only. The parts, and the blocks in them, start
/// at fixed keys, so that it is also the same whether its query comes alone or among up to 16.
/// `lse_rows`, unless null, receives (B,H,T).
/// Source: the split over keys of Dao, Haziza, Massa and Sizov 2023, "Flash-Decoding for
/// long-context inference".
void attend_few(const ResolvedAttention& problem, const ResolvedOutputs& outputs, int threads,
                float* lse_rows);

}  // namespace volvelle
