// Gradients against central differences of the oracle.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "check/properties/distance.h"
#include "check/properties/gradient_settings.h"
#include "check/properties/measurements.h"

namespace volvelle::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The arrays of a problem in the order of kGradients.
constexpr View AttentionProblem::* kInputs[] = {&AttentionProblem::q,
                                                &AttentionProblem::k,
                                                &AttentionProblem::v,
                                                &AttentionProblem::bias,
                                                &AttentionProblem::slopes,
                                                &AttentionProblem::bias_table,
                                                &AttentionProblem::bucket_table,
                                                &AttentionProblem::sinks};
constexpr std::size_t kInputCount = std::size(kInputs);
constexpr int kDirections = 2;

Tensor normal_like(const View& view, RandomNumbers draws, DType dtype) {
  return filled(dtype, view.shape(), [&] { return draws.normal(); });
}

double inner_product(const View& a, const View& b) {
  double sum = 0;
  const std::int64_t count = element_count(a.shape());
  for (std::int64_t n = 0; n < count; ++n) {
    sum += element_as_double(a, n) * element_as_double(b, n);
  }
  return sum;
}

// The slope of the loss along a direction of one input, by a central difference in float64.
class Differences {
 public:
  Differences(const AttentionProblem& problem, const View& grad_output)
      : problem_(problem), grad_output_(converted(grad_output, DType::float64)) {
    for (std::size_t n = 0; n < kInputCount; ++n) {
      View& view = problem_.*kInputs[n];
      if (!view) continue;
      arrays_[n] = converted(view, DType::float64);
      view = arrays_[n].view();
    }
  }

  double along(std::size_t input, const Tensor& direction) {
    constexpr double kStep = 3e-6;  // a slope's step moves a score by up to 140 times as much
    const double above = loss(input, direction, kStep);
    return (above - loss(input, direction, -kStep)) / (2 * kStep);
  }

 private:
  double loss(std::size_t input, const Tensor& direction, double step) const {
    Tensor moved(DType::float64, arrays_[input].shape());
    for (std::int64_t n = 0; n < moved.size(); ++n) {
      moved.data<double>()[n] =
          arrays_[input].data<double>()[n] + step * direction.data<double>()[n];
    }
    AttentionProblem problem = problem_;
    problem.*kInputs[input] = moved.view();
    const AttentionResult result =
        attend(problem, AttentionRequest{}, {.path = AttentionPath::oracle});
    return inner_product(result.output.view(), grad_output_.view());
  }

  AttentionProblem problem_;
  Tensor grad_output_;
  Tensor arrays_[kInputCount];
};

// How far the gradients' slopes along random directions are from the differences, as a share of
// the gradient's length.
double against_differences(const Subject& subject, const std::string& name,
                           const AttentionProblem& p, const View& grad_output) {
  const auto direction = [&](std::size_t input, int n) {
    const auto stream =
        static_cast<std::uint64_t>(1000 + input * kDirections) + static_cast<std::uint64_t>(n);
    return normal_like(p.*kInputs[input], subject.draws(stream), DType::float64);
  };
  const std::vector<double>& slopes = subject.reference(name, [&] {
    Differences differences(p, grad_output);
    std::vector<double> all;
    for (std::size_t input = 0; input < kInputCount; ++input) {
      for (int n = 0; n < kDirections && p.*kInputs[input]; ++n) {
        all.push_back(differences.along(input, direction(input, n)));
      }
    }
    return all;
  });
  const AttentionGradientResult ours = subject.gradients(p, grad_output);
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t input = 0; input < kInputCount; ++input) {
    const Tensor& gradient = ours.*kGradients[input];
    if (p.*kInputs[input] && !gradient) return kInfinity;
    for (int n = 0; n < kDirections && p.*kInputs[input]; ++n) {
      const double slope = inner_product(gradient.view(), direction(input, n).view());
      const double length = std::sqrt(inner_product(gradient.view(), gradient.view()));
      const double apart = std::fabs(slope - slopes[at++]) / std::max(1.0, length);
      worst = std::isnan(apart) ? kInfinity : std::max(worst, apart);
    }
  }
  return worst;
}

}  // namespace

double gradient_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  int n = 0;
  for (const auto make : {with_every_gradient, with_many_queries}) {
    Setting setting = make(draws);
    const View grad_output = gradient_of_output(setting, draws);
    worst = std::max(worst, against_differences(subject, "problem " + std::to_string(n++),
                                                setting.problem, grad_output));
  }
  return worst;
}

}  // namespace volvelle::properties
