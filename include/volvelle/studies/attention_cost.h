#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct AttentionCostOptions {
  std::int64_t batch = 8;
  std::int64_t tokens = 4096;
  std::int64_t width = 4096;
  std::int64_t heads = 32;
  std::int64_t bytes = 2;  ///< of a number in a matrix of scores
  /// Tokens of the ladder, at batch 1 and the same width.
  std::vector<std::int64_t> ladder = {1024, 4096, 8192, 16384, 65536};

  bool measure = true;  ///< time a model that fits on this machine
  std::int64_t measured_width = 256;
  std::int64_t measured_heads = 4;
  std::vector<std::int64_t> measured_tokens = {128, 256, 512, 1024, 2048};
  double seconds = 0.06;  ///< spent on each time, about
};

/// Where attention outweighs the projections around it. By arithmetic: 8 B T C^2 operations of four
/// projections against 4 B T^2 C of scores and weighted values (a multiply-add counts as 2), and
/// the bytes of a whole matrix of scores. Beside it measured: the time of projections and of fused
/// attention by length, what turning queries and keys adds, the memory of fused attention and of a
/// whole matrix of scores, and time by live tiles. Times are this machine's, and differ from run to
/// run; everything else does not.
/// Throws InvalidArgument: sizes that are not positive, heads that do not divide a width, lengths
/// given twice.
VOLVELLE_API StudyResult study_attention_cost(const AttentionCostOptions& options = {},
                                              const StudyRun& run = {});

}  // namespace volvelle
