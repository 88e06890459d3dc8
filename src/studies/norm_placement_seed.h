#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "studies/norm_jacobian.h"
#include "studies/norm_placement_plan.h"
#include "studies/norm_placement_repeat.h"
#include "studies/norm_placement_run.h"
#include "studies/placement_bench.h"
#include "volvelle/studies/study.h"

namespace volvelle {

/// What a case gave with the seed that is looked at closely: the first.
struct CloseLook {
  PlacementRun run;  ///< without its gradients
  Agreement agreement;
  std::optional<NormJacobian> jacobian;  ///< where the stream is measured
};

/// Everything that was measured with one seed; entry by entry the plan's cases.
struct SeedMeasurements {
  std::vector<std::optional<PlacementRun>> runs;
  std::vector<std::optional<CloseLook>> close;    ///< first seed only
  std::vector<std::optional<CloseLook>> control;  ///< first seed and smallest depth only
};

/// Tells of progress from several threads, and asks whether to stop.
class PlacementWatch {
 public:
  PlacementWatch(const StudyRun& run, std::int64_t steps) : run_(run), steps_(steps) {}
  bool stopped();
  void step_done(const std::string& what);
  /// Whether something was left out.
  bool stopped_early() const { return done_ < steps_; }

 private:
  const StudyRun& run_;
  std::int64_t steps_;
  std::int64_t done_ = 0;
  bool stopped_ = false;
  std::mutex mutex_;
};

/// Runs of the whole plan, repetitions and the control among them.
std::int64_t steps_of(const PlacementPlan& plan);

/// Leaves empty what it did not come to when it was stopped.
SeedMeasurements measure_seed(const PlacementPlan& plan, std::int64_t index, PlacementBench& bench,
                              PlacementWatch& watch);

}  // namespace volvelle
