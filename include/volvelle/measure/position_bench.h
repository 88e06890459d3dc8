#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/measure/attention_case.h"

namespace volvelle {

/// What is timed with a position scheme and, in turn, without one.
enum class PositionWork : std::uint8_t {
  attention,  ///< `attend`
  backward,   ///< `attend_backward`, for q, k, v and what the scheme lets train
  block,      ///< attention between its projections, forward and backward: MultiHeadAttention
  turn,       ///< turning queries and keys alone, against reading and writing them once
  step,       ///< a token of a model of 6 layers behind a cache, against reading weights and cache
};
VOLVELLE_API std::string_view name_of(PositionWork work) noexcept;

struct PositionCase {
  PositionWork work = PositionWork::attention;
  std::string scheme = "none";  ///< as nn/positions/catalog.h reads it
  /// A block and a step have width heads * head_width; a step `keys` tokens in its cache.
  AttentionCase shape = {.queries = 2048, .causal = true};
};

/// `ratio` is over the same without positions.
struct PositionFigures : Figures {
  PositionCase one;  ///< with every length filled in
};

/// Checks the case and its twin without positions, then times them in turn. Attention and its
/// gradients of q, k and v are held against the oracle on sampled rows; a block's output and
/// gradients against its twin in float64 on fewer tokens; a step's logits against the full pass;
/// turned rows against those turned in double, and they have no twin.
/// Throws:  InvalidArgument for an unknown scheme, one that enters no attention or, where turns are
///          measured, turns nothing; a block or step in another type than float32 or without
///          causality; what `attend` refuses; InternalError when a check fails.
VOLVELLE_API PositionFigures measure_positions(const PositionCase& one,
                                               const MeasureOptions& options = {});

/// Operations that attention's pairs, projections and layers take, whatever the scheme.
VOLVELLE_API double position_operations(const PositionCase& one);

/// What the table measures at every length: none, rotary, ALiBi with and without slopes that train,
/// clamped, T5.
VOLVELLE_API const std::vector<std::string>& position_bench_schemes();

/// Attention and backward over 1024 to 4096 tokens with each of these, relative keys at 1024; a
/// block of width 768; turns of more than caches hold; a step.
VOLVELLE_API const std::vector<PositionCase>& position_cases();

}  // namespace volvelle
