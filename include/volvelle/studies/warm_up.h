#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/stack.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct WarmUpOptions {
  std::vector<std::string> placements = {"pre", "post"};
  std::vector<std::int64_t> depths = {6, 12, 24};
  std::vector<double> rates = {};  ///< tried with each; empty: `warm_up_rates` of the optimizer
  /// Steps of the climb to the full rate; 0: none. Each above 0 comes with a third arm, the
  /// constant rate of the same mean.
  std::vector<std::int64_t> warm_up = {0, 100};
  std::string optimizer = "adamw";  ///< with its default numbers
  NormKind norm = NormKind::layer;
  Initialization initialization = Initialization::torch;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t feed_forward = 0;  ///< 0: 4 * width
  std::int64_t batch = 8;
  std::int64_t tokens = 5;  ///< of a sequence: pairs of key and value, and the query
  std::int64_t steps = 300;
  std::int64_t seeds = 3;      ///< runs of a cell at an edge, and of what is held against it
  std::int64_t far_seeds = 1;  ///< of any other
  std::uint64_t seed = 0;      ///< the first
};

/// Fewer cells and seeds, for less than a minute.
VOLVELLE_API WarmUpOptions quick_warm_up();

/// Rates that lie around where small stacks stop learning, in ascending order. Throws
/// InvalidArgument for an unknown optimizer (with a suggestion).
VOLVELLE_API std::vector<double> warm_up_rates(const std::string& optimizer);

/// Trains stacks on recall without positions (recall_task.h), every placement, depth, rate and arm
/// from the same draws and on the same batches, and calls each run learned, stuck or broken: by the
/// mean of its last 20 losses below 0.7 of the uniform guess or not; broken where a loss or a
/// gradient is not finite, or where 20 losses in a row, or that mean, lie above 1.05 of the first
/// loss (the untrained network's, over 20 batches). Every cell is tried with a seed or more; where
/// a neighbouring rate, another seed, or what it is held against at such an edge ends otherwise, it
/// gets `seeds`, and the steps that broken runs leave over, since they stop there, buy such cells
/// up to as many again. Runs are spread over the threads, each on one; what comes out does not
/// depend on how many there are. The control is a run that learned, with labels that were drawn
/// apart from the sequences.
/// Throws: InvalidArgument for options out of range, unknown names (with a suggestion), sizes that
///         do not fit each other or the memory.
VOLVELLE_API StudyResult study_warm_up(const WarmUpOptions& options = {}, const StudyRun& run = {});

}  // namespace volvelle
