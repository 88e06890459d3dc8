#pragma once

#include <cstdint>

#include "kernels/attention_forward.h"

namespace volvelle::kernels {

/// Rows that a step works on at most.
inline constexpr int kMostDecodeRows = 64;

/// The queries of all heads that read one key head, as rows, against some keys of one tile, read as
/// they are stored. Lanes are elements of a row, or keys. Scores are in units of 1 / per_nat. A
/// row's bits do not depend on the rows beside it, nor on keys behind those that it sees.
struct DecodeStep {
  const void* k = nullptr;  ///< first key's row, elements next to each other; any alignment
  std::int64_t k_stride = 0;
  const void* v = nullptr;
  std::int64_t v_stride = 0;
  int keys = 0;  ///< 1..kTileKeys
  int width = 0, value_width = 0;
  int rows = 0;  ///< 1..kMostDecodeRows

  /// [rows][query_stride], times scale * per_nat (or scale / cap); 0 from `width` up to a multiple
  /// of the lanes; 64-byte aligned, as all that follows.
  const float* queries = nullptr;
  std::int64_t query_stride = 0;
  float* scores = nullptr;      ///< [rows][kTileKeys]
  const float* seen = nullptr;  ///< [rows][kTileKeys]: 0 excludes; null: every row sees every key
  float* out = nullptr;         ///< [rows][out_stride], running; room up to a multiple of the lanes
  std::int64_t out_stride = 0;
  float* maximum = nullptr;  ///< [rows], running; -inf at first
  float* sum = nullptr;      ///< [rows], running
  float* moment = nullptr;   ///< [rows], running sum of p * (score - maximum); null: not wanted
  float* factor = nullptr;   ///< [rows]: what `weights` tells `values` to multiply `out` with
  bool fresh = false;        ///< nothing was added to `out` yet: it is not read

  const void* next_k = nullptr;  ///< the keys to come, fetched into cache meanwhile; null: none
};

/// What is added to one row's scores of a step.
struct DecodeShape {
  float* scores = nullptr;  ///< [kTileKeys]
  int keys = 0;
  float cap = 0;                     ///< per_nat * softcap; 0: none
  const float* bias = nullptr;       ///< [keys], in nats, any alignment; null: none
  const float* by_offset = nullptr;  ///< the same
  const float* seen = nullptr;  ///< [kTileKeys]: where 0, the score becomes -inf; null: nowhere
};

/// The parts of one row's keys put together, in the order of the keys.
struct DecodeMerge {
  const float* out = nullptr;  ///< part c at out + c * part_stride: [value_width]
  float* maximum = nullptr;    ///< changed
  const float* sum = nullptr;
  const float* moment = nullptr;  ///< null: no entropy
  std::int64_t part_stride = 0;   ///< of all four
  std::int64_t parts = 0;
  int value_width = 0;
  float sink = 0;           ///< in units; -inf: none
  float* row = nullptr;     ///< [value_width]: receives the output; any alignment
  bool statistics = false;  ///< whether the next two are wanted
  float lse = 0;            ///< receives the log-sum-exp, natural log
  float entropy = 0;        ///< nats
};

/// How keys and values lie in memory.
enum class Stored : std::uint8_t { float32, bfloat16, float16 };
inline constexpr int kStoredTypes = 3;

/// The kernels of one instruction set for few queries over many keys.
struct DecodeKernels {
  int lanes;
  float per_nat;
  /// scores = queries . k, fetching the step's values. Per Stored, as `values`.
  void (*scores[kStoredTypes])(const DecodeStep& step);
  void (*shape)(const DecodeShape& row);
  /// Turns scores into exp(score - maximum) and raises maximum, sum and moment.
  void (*weights)(const DecodeStep& step);
  /// out = factor * out + weights v, fetching the keys to come. What a row does not see is not
  /// multiplied in.
  void (*values[kStoredTypes])(const DecodeStep& step);
  void (*merge)(DecodeMerge& row);
};

/// Of the instruction set in use.
const DecodeKernels& decode_kernels();

}  // namespace volvelle::kernels
