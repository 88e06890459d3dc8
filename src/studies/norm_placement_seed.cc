#include "studies/norm_placement_seed.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace volvelle {
namespace {

bool in_control(const PlacementPlan& plan, const PlacementCase& one) {
  return one.depth == *std::min_element(plan.options.depths.begin(), plan.options.depths.end());
}

// The control's loss is constant behind a norm only.
FinalNorm control_norm(FinalNorm asked) {
  return asked == FinalNorm::no ? FinalNorm::automatic : asked;
}

class Seed {
 public:
  Seed(const PlacementPlan& plan, std::int64_t index, PlacementBench& bench, PlacementWatch& watch)
      : plan_(plan),
        first_(index == 0),
        bench_(bench),
        watch_(watch),
        seed_(plan.options.first_seed + static_cast<std::uint64_t>(index)),
        labels_(draw_labels(plan.options, seed_)) {
    measured_.runs.resize(plan.cases.size());
    measured_.close.resize(plan.cases.size());
    measured_.control.resize(plan.cases.size());
  }

  SeedMeasurements measure() {
    for (std::size_t group = 0; group < plan_.draws.size() && !watch_.stopped(); ++group) {
      std::unique_ptr<SeedDraws>& draws = bench_.draws[group];
      if (!draws) draws = std::make_unique<SeedDraws>(plan_, plan_.draws[group]);
      draws->draw(seed_);
      if (first_) doubles_ = in_double(draws->parameters());
      for (std::size_t index = 0; index < plan_.cases.size(); ++index) {
        if (plan_.cases[index].draws == group) measure_case(index, *draws);
      }
    }
    return std::move(measured_);
  }

 private:
  void measure_case(std::size_t index, const SeedDraws& draws) {
    if (watch_.stopped()) return;
    const PlacementCase& one = plan_.cases[index];
    const RunOptions how{.loss = plan_.options.loss, .threads = plan_.threads_of_run};
    std::unique_ptr<CaseStack>& built = bench_.stacks[index];
    const StackOptions options = stack_of(plan_, one);
    if (!built) built = std::make_unique<CaseStack>(plan_, one, options, draws.parameters());
    built->take(draws.parameters());
    if (!first_) {
      measured_.runs[index] = run_case(plan_, one, *built, draws, labels_, how);
    } else {
      measured_.close[index] = look_closely(one, *built, options, draws, how);
      measured_.runs[index] = measured_.close[index]->run;
    }
    built->hand_on(draws.parameters());
    watch_.step_done(title_of(plan_, one));
    if (first_ && in_control(plan_, one)) measure_control(index, draws, how);
  }

  void measure_control(std::size_t index, const SeedDraws& draws, RunOptions how) {
    if (watch_.stopped()) return;
    const PlacementCase& one = plan_.cases[index];
    StackOptions options = stack_of(plan_, one);
    options.final_norm = control_norm(options.final_norm);
    how.loss = PlacementLoss::degenerate;
    CaseStack built(plan_, one, options, draws.parameters());
    built.take(draws.parameters());
    measured_.control[index] = look_closely(one, built, options, draws, how);
    watch_.step_done("the control");
  }

  // Gradients of a long stack are large; only the comparison needs them.
  CloseLook look_closely(const PlacementCase& one, const CaseStack& built,
                         const StackOptions& options, const SeedDraws& draws, RunOptions how) {
    how.keep_gradients = true;
    CloseLook look;
    look.run = run_case(plan_, one, built, draws, labels_, how);
    look.agreement = repeat_in_double(plan_, one, options, draws, doubles_, labels_, how, look.run);
    if (look.run.gradient_out) {
      look.jacobian =
          norm_jacobian(one.norm, look.run.last_input, look.run.last_branch, look.run.gradient_out);
    }
    look.run.gradients.clear();
    look.run.last_input = look.run.last_branch = look.run.gradient_out = Tensor();
    return look;
  }

  const PlacementPlan& plan_;
  bool first_;
  PlacementBench& bench_;
  PlacementWatch& watch_;
  std::uint64_t seed_;
  Tensor labels_;
  DrawnParameters doubles_;  // of the group at hand, for the first seed
  SeedMeasurements measured_;
};

}  // namespace

bool PlacementWatch::stopped() {
  const std::lock_guard lock(mutex_);
  stopped_ = stopped_ || (run_.stopped && run_.stopped());
  return stopped_;
}

void PlacementWatch::step_done(const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (!run_.progress) return;
  run_.progress(static_cast<double>(done_) / static_cast<double>(steps_), what);
}

std::int64_t steps_of(const PlacementPlan& plan) {
  const auto controls =
      std::count_if(plan.cases.begin(), plan.cases.end(),
                    [&](const PlacementCase& one) { return in_control(plan, one); });
  return static_cast<std::int64_t>(plan.cases.size()) * plan.options.seeds + controls;
}

SeedMeasurements measure_seed(const PlacementPlan& plan, std::int64_t index, PlacementBench& bench,
                              PlacementWatch& watch) {
  const ReuseScope scope(bench.memory);
  return Seed(plan, index, bench, watch).measure();
}

}  // namespace volvelle
