#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "volvelle/studies/extrapolation.h"

namespace volvelle {

/// One network on the order task.
struct OrderRun {
  std::string positions = "none";
  bool causal = false;
  std::uint64_t seed = 0;
};

/// What a network must reach to have learned it; whoever does not see order is right half of the
/// time.
inline constexpr double kOrderLearned = 0.9;

struct OrderOutcome {
  bool finished = false;
  double accuracy = 0;  ///< over test sequences in twins
};

/// Steps of such a run: a share of those of the contest.
std::int64_t order_steps(const ExtrapolationOptions& options);

/// Trains it on the calling thread alone; `go_on` as for `train_run`.
OrderOutcome run_order(const ExtrapolationOptions& options, const OrderRun& run,
                       const std::function<bool(std::int64_t step)>& go_on);

}  // namespace volvelle
