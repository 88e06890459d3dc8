#include "studies/norm_placement_repeat.h"

#include <algorithm>
#include <limits>

#include "studies/gradient_arrays.h"

namespace volvelle {
namespace {

double own_epsilon(NormKind kind) { return kind == NormKind::layer ? 1e-5 : 1e-6; }

View measured_part(const PlacementPlan& plan, const Tensor& gradient) {
  const bool parameter = plan.options.measure == PlacementMeasure::parameter;
  return parameter ? plan.parameter.of(gradient.view()) : gradient.view();
}

}  // namespace

Agreement repeat_in_double(const PlacementPlan& plan, const PlacementCase& one,
                           StackOptions options, const SeedDraws& draws,
                           const DrawnParameters& doubles, const Tensor& labels,
                           const RunOptions& how, const PlacementRun& run) {
  options.dtype = DType::float64;
  options.epsilon = own_epsilon(one.norm) * kRepeatedEpsilon;
  CaseStack built(plan, one, options, doubles);
  built.take(doubles);
  PlacementRun repeated = run_case(plan, one, built, draws, labels, how);
  built.hand_on(doubles);
  Agreement agreement;
  for (std::size_t layer = 0; layer < run.norms.size(); ++layer) {
    const double apart = distance(measured_part(plan, run.gradients[layer]),
                                  measured_part(plan, repeated.gradients[layer]));
    const double larger = std::max(run.norms[layer], repeated.norms[layer]);
    const double part = apart / larger;
    // No gradient at all, or one that is no number, agrees with nothing.
    agreement.disagreement = part >= 0 ? std::max(agreement.disagreement, part)
                                       : std::numeric_limits<double>::infinity();
    if (!(part >= 0)) break;
  }
  agreement.norms = std::move(repeated.norms);
  return agreement;
}

}  // namespace volvelle
