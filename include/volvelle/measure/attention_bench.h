#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// A shape of attention to be timed. 0 stands for "the same": key heads as heads, keys as queries.
struct AttentionCase {
  DType dtype = DType::float32;
  std::int64_t batch = 1;
  std::int64_t heads = 8;
  std::int64_t key_heads = 0;
  std::int64_t queries = 1024;
  std::int64_t keys = 0;
  std::int64_t head_width = 64;
  bool causal = false;
  std::int64_t window = 0;
};

struct MeasureOptions {
  int threads = 0;                     ///< 0: the process's setting
  double seconds = 0.5;                ///< spent on timing, about
  std::function<bool()> stopped = {};  ///< true: end early with what there is
};

/// What was measured.
struct AttentionFigures {
  AttentionCase shape;  ///< with every length filled in
  int threads = 0;
  std::string simd;
  double milliseconds = 0;   ///< of one call, median
  double gflops = 0;         ///< useful operations / median time
  double peak_gflops = 0;    ///< median of the peaks measured around the repetitions
  double share_of_peak = 0;  ///< median over repetitions of rate / peak around that repetition
  double max_error = 0;      ///< largest absolute difference from the oracle on sampled rows
  int repetitions = 0;       ///< 0: stopped before the first
};

/// 2 (D + E) operations for each pair of a query and a key it sees.
VOLVELLE_API double useful_operations(const AttentionCase& shape);

/// Checks `attend` on random inputs against the oracle on sampled rows, then times it. Calls
/// shorter than 200 us are timed in batches of that length.
/// Throws:  InvalidArgument for lengths below 1 and what `attend` refuses; InternalError when the
///          result is beyond the tolerance.
VOLVELLE_API AttentionFigures measure_attention(const AttentionCase& shape,
                                                const MeasureOptions& options = {});

/// The shapes that stand for the rest: lengths 128 to 4096, widths 64 and 128, full, causal and
/// windowed, grouped heads, every dtype, and small problems.
VOLVELLE_API const std::vector<AttentionCase>& attention_cases();

}  // namespace volvelle
