#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "studies/warm_up_arms.h"
#include "studies/warm_up_verdict.h"
#include "volvelle/studies/warm_up.h"
#include "volvelle/training/layer_log.h"
#include "volvelle/training/recall_task.h"

namespace volvelle {

/// One network, trained once.
struct WarmUpRun {
  std::string placement;
  std::int64_t depth = 1;
  double rate = 0;
  WarmUpArm arm = {};
  std::uint64_t seed = 0;
  bool shuffled = false;        ///< labels without meaning
  bool measure_layers = false;  ///< of the first steps
};

struct WarmUpOutcome {
  bool finished = false;  ///< false: it was stopped from outside, and says nothing
  RunVerdict verdict = RunVerdict::stuck;
  double first_loss = 0;
  double last_loss = 0;  ///< mean of the last losses
  std::int64_t steps = 0;
  std::string trouble;               ///< of the step that could not be made
  std::vector<LayerFigures> layers;  ///< where asked for: means over the first steps
};

/// Steps over which a layer's figures are averaged.
inline constexpr std::int64_t kFirstSteps = 5;

RecallOptions warm_up_task(const WarmUpOptions& options);

/// Trains it on the calling thread alone. `go_on` is asked before each step, which was counted from
/// 1; false ends the run.
WarmUpOutcome train_once(const WarmUpOptions& options, const WarmUpRun& run,
                         const std::function<bool(std::int64_t step)>& go_on);

/// Throws InvalidArgument where a network of these sizes cannot be made.
void check_network(const WarmUpOptions& options, const std::string& placement, std::int64_t depth);

}  // namespace volvelle
