#include "studies/placement_bench.h"

#include <utility>

namespace volvelle {

PlacementBench::PlacementBench(const PlacementPlan& plan)
    : draws(plan.draws.size()), stacks(plan.cases.size()) {}

std::unique_ptr<PlacementBench> PlacementBenches::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<PlacementBench> bench = std::move(free_.back());
      free_.pop_back();
      return bench;
    }
  }
  return std::make_unique<PlacementBench>(plan_);
}

void PlacementBenches::give_back(std::unique_ptr<PlacementBench> bench) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(bench));
}

}  // namespace volvelle
