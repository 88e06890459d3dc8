#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "studies/case_stack.h"
#include "studies/norm_placement_draws.h"
#include "studies/norm_placement_plan.h"
#include "volvelle/base/memory_reuse.h"

namespace volvelle {

/// Room for all that one seed needs: draws, the stack of every case, and what running them takes.
/// One thread works at it.
struct PlacementBench {
  explicit PlacementBench(const PlacementPlan& plan);

  MemoryReuse memory;
  std::vector<std::unique_ptr<SeedDraws>> draws;   ///< entry by entry the plan's
  std::vector<std::unique_ptr<CaseStack>> stacks;  ///< entry by entry its cases; built when met
};

/// Benches that are used again: as many as work at the same time, however many seeds there are.
class PlacementBenches {
 public:
  explicit PlacementBenches(const PlacementPlan& plan) : plan_(plan) {}
  std::unique_ptr<PlacementBench> borrow();
  void give_back(std::unique_ptr<PlacementBench> bench);

 private:
  const PlacementPlan& plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PlacementBench>> free_;
};

}  // namespace volvelle
