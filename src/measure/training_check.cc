#include "measure/training_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "measure/training_model.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"

namespace volvelle {
namespace {

// |a - b| / |b| over all elements.
double relative_difference(const Tensor& a, const Tensor& b) {
  const Tensor wide = converted(a.view(), DType::float64);
  const double *x = wide.data<double>(), *y = b.data<double>();
  double apart = 0, all = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) {
    apart += (x[i] - y[i]) * (x[i] - y[i]);
    all += y[i] * y[i];
  }
  return all > 0 ? std::sqrt(apart / all) : std::sqrt(apart);
}

// A NaN is no difference that is small enough.
double larger(double worst, double next) { return next <= worst ? worst : next; }

}  // namespace

double check_training_gradients(DType precision, int threads) {
  TrainingShape shape = training_shapes().front();
  shape.batch = 2;
  shape.tokens = 33;
  const ThreadScope scope(threads);
  const TrainingModel ours(shape), twin(shape, DType::float64);
  backward(ours.loss({.training = true, .compute = precision, .threads = threads}));
  backward(twin.loss({.training = true, .threads = threads}));
  const std::vector<NamedParameter> parameters = ours.model.parameters();
  const std::vector<NamedParameter> right = twin.model.parameters();
  const double most = precision == DType::bfloat16 ? 0.1 : 1e-4;
  double worst = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double apart =
        relative_difference(parameters[i].variable.grad(), right[i].variable.grad());
    if (!(apart <= most)) {
      throw InternalError("[bench] the gradient of " + parameters[i].name + " in " +
                          std::string(name_of(precision)) + " is off by " + std::to_string(apart) +
                          " of itself from that in float64; please report this");
    }
    worst = larger(worst, apart);
  }
  return worst;
}

void check_first_loss(const TrainingShape& shape, double loss) {
  const double guess = std::log(static_cast<double>(shape.vocabulary));
  if (std::abs(loss - guess) < 1) return;
  throw InternalError("[bench] the first loss " + std::to_string(loss) +
                      " is not near that of an even guess, " + std::to_string(guess) +
                      "; please report this");
}

}  // namespace volvelle
