#pragma once

#include "attention/resolved.h"
#include "volvelle/attention/attend.h"

namespace volvelle {

/// Why the fused path cannot take a problem; nullptr when it can.
const char* fused_refusal(const ResolvedAttention& problem);

/// Attention tile by tile. Lanes of a vector are queries: a panel of them keeps its running
/// maximum, sum and output while it walks over tiles of keys, which are read in place. Never a
/// T x S buffer; memory is per-thread workspaces that are kept.
/// Bits: a query's result depends on its own row only, because lanes never meet; the tiles start
/// at fixed keys and are walked in order, whatever the thread count.
/// Source: the online softmax of Milakov and Gimelshein 2018, arXiv:1805.02867, in the tiling of
/// Dao et al. 2022, arXiv:2205.14135.
void attend_fused(const ResolvedAttention& problem, const ResolvedOutputs& outputs, int threads);

/// What the walk would meet, without walking.
TileCounts count_tiles(const ResolvedAttention& problem, int threads);

}  // namespace volvelle
