#include "volvelle/ops/optimizer_steps.h"

#include <cmath>
#include <string>
#include <vector>

#include "kernels/optimizer.h"
#include "ops/checks.h"
#include "ops/chunks.h"
#include "tensor/overlap.h"

namespace volvelle {
namespace {

// One array of a step: of the weight's dtype and shape, contiguous.
void check_array(const OperatorChecks& checks, const char* name, const View& array,
                 const View& weight) {
  if (!array) checks.refuse(std::string(name) + " is missing");
  if (array.dtype() != weight.dtype() || array.shape() != weight.shape()) {
    checks.refuse(named_shape(name, array) + " " + std::string(name_of(array.dtype())) +
                  " must be " + to_string(weight.shape()) + " " +
                  std::string(name_of(weight.dtype())) + ", as the weight is");
  }
  std::int64_t stride = 1;
  for (int axis = array.rank() - 1; axis >= 0; --axis) {
    if (array.shape()[axis] != 1 && array.strides()[axis] != stride) {
      checks.refuse(named_shape(name, array) + " with strides " + to_string(array.strides()) +
                    " must be contiguous");
    }
    stride *= array.shape()[axis];
  }
}

void check_weight(const OperatorChecks& checks, const View& weight) {
  if (!weight) checks.refuse("weight is missing");
  if (weight.dtype() != DType::float32 && weight.dtype() != DType::float64) {
    checks.refuse("weight is " + std::string(name_of(weight.dtype())) +
                  "; it must be float32 or float64 (keep float32 master weights)");
  }
  check_array(checks, "weight", weight, weight);
}

// Each array has bytes of its own; what is `written` is nobody else's.
struct Named {
  const char* name;
  View view;
};

void check_apart(const OperatorChecks& checks, const std::vector<Named>& written,
                 const Named& gradient) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const ByteRange range = byte_range(written[i].view);
    for (std::size_t other = 0; other < i; ++other) {
      if (range.meets(byte_range(written[other].view))) {
        checks.refuse(std::string(written[i].name) + " overlaps " + written[other].name +
                      " in memory; give it an array of its own");
      }
    }
    if (range.meets(byte_range(gradient.view))) {
      checks.refuse(std::string(written[i].name) + " overlaps the gradient in memory; give it an " +
                    "array of its own");
    }
  }
}

void check_number(const OperatorChecks& checks, const char* name, double value, bool good,
                  const char* rule) {
  if (good && std::isfinite(value)) return;
  checks.refuse(std::string(name) + " = " + std::to_string(value) + " must be " + rule);
}

void check_factors(const OperatorChecks& checks, double rate, double decay, double scale) {
  check_number(checks, "rate", rate, rate >= 0, "a number of 0 or more");
  check_number(checks, "decay", decay, decay >= 0, "a number of 0 or more");
  check_number(checks, "gradient_scale", scale, true, "finite");
}

// Calls step(first, count), which returns a sum of squares, and gives the root of them all, added
// in the order of the chunks.
template <class Step>
double root_of_sums(std::int64_t count, int threads, Step&& step) {
  std::vector<double> sums(static_cast<std::size_t>((count + kChunk - 1) / kChunk));
  for_each_chunk(count, resolve_threads(threads), [&](std::int64_t first, std::int64_t here) {
    sums[static_cast<std::size_t>(first / kChunk)] = step(first, here);
  });
  double sum = 0;
  for (const double of_chunk : sums) sum += of_chunk;
  return std::sqrt(sum);
}

template <class T>
kernels::AdamWFactors<T> factors_of(const AdamWNumbers& n) {
  const double step = static_cast<double>(n.step);
  return {.gradient_scale = static_cast<T>(n.gradient_scale),
          .keep = static_cast<T>(1 - n.rate * n.decay),
          .to_first = static_cast<T>(1 - n.beta1),
          .beta2 = static_cast<T>(n.beta2),
          .to_second = static_cast<T>(1 - n.beta2),
          .second_root = static_cast<T>(std::sqrt(1 - std::pow(n.beta2, step))),
          .epsilon = static_cast<T>(n.epsilon),
          .step_size = static_cast<T>(n.rate / (1 - std::pow(n.beta1, step)))};
}

template <class T>
double adamw_of(const MutableView& weight, const View& gradient, const MutableView& first_moment,
                const MutableView& second_moment, const AdamWNumbers& numbers) {
  const auto step = kernels::optimizer_kernels<T>().adamw;
  const kernels::AdamWFactors<T> factors = factors_of<T>(numbers);
  T* const w = static_cast<T*>(weight.data());
  const T* const g = static_cast<const T*>(gradient.data());
  T* const m = static_cast<T*>(first_moment.data());
  T* const v = static_cast<T*>(second_moment.data());
  return root_of_sums(element_count(weight.shape()), numbers.threads,
                      [&](std::int64_t first, std::int64_t count) {
                        return step(factors, count, w + first, g + first, m + first, v + first);
                      });
}

template <class T>
double sgd_of(const MutableView& weight, const View& gradient, const MutableView& velocity,
              const SgdNumbers& numbers) {
  const auto step = kernels::optimizer_kernels<T>().sgd;
  const kernels::SgdFactors<T> factors{.gradient_scale = static_cast<T>(numbers.gradient_scale),
                                       .decay = static_cast<T>(numbers.decay),
                                       .momentum = static_cast<T>(numbers.momentum),
                                       .rate = static_cast<T>(numbers.rate),
                                       .nesterov = numbers.nesterov,
                                       .first = numbers.first};
  T* const w = static_cast<T*>(weight.data());
  const T* const g = static_cast<const T*>(gradient.data());
  T* const speed = numbers.momentum == 0 ? nullptr : static_cast<T*>(velocity.data());
  return root_of_sums(element_count(weight.shape()), numbers.threads,
                      [&](std::int64_t first, std::int64_t count) {
                        return step(factors, count, w + first, g + first,
                                    speed == nullptr ? nullptr : speed + first);
                      });
}

}  // namespace

double adamw_step(const MutableView& weight, const View& gradient, const MutableView& first_moment,
                  const MutableView& second_moment, const AdamWNumbers& numbers) {
  constexpr OperatorChecks checks("adamw_step");
  check_weight(checks, weight);
  check_array(checks, "gradient", gradient, weight);
  check_array(checks, "first_moment", first_moment, weight);
  check_array(checks, "second_moment", second_moment, weight);
  check_apart(
      checks,
      {{"weight", weight}, {"first_moment", first_moment}, {"second_moment", second_moment}},
      {"gradient", gradient});
  check_factors(checks, numbers.rate, numbers.decay, numbers.gradient_scale);
  const auto is_share = [](double beta) { return beta >= 0 && beta < 1; };
  check_number(checks, "beta1", numbers.beta1, is_share(numbers.beta1), "in [0, 1)");
  check_number(checks, "beta2", numbers.beta2, is_share(numbers.beta2), "in [0, 1)");
  check_number(checks, "epsilon", numbers.epsilon, numbers.epsilon >= 0, "a number of 0 or more");
  if (numbers.step < 1) {
    checks.refuse("step = " + std::to_string(numbers.step) + "; steps are counted from 1");
  }
  return weight.dtype() == DType::float64
             ? adamw_of<double>(weight, gradient, first_moment, second_moment, numbers)
             : adamw_of<float>(weight, gradient, first_moment, second_moment, numbers);
}

double sgd_step(const MutableView& weight, const View& gradient, const MutableView& velocity,
                const SgdNumbers& numbers) {
  constexpr OperatorChecks checks("sgd_step");
  check_weight(checks, weight);
  check_array(checks, "gradient", gradient, weight);
  check_factors(checks, numbers.rate, numbers.decay, numbers.gradient_scale);
  check_number(checks, "momentum", numbers.momentum, numbers.momentum >= 0,
               "a number of 0 or more");
  if (numbers.nesterov && numbers.momentum == 0) checks.refuse("nesterov needs a momentum above 0");
  std::vector<Named> written{{"weight", weight}};
  if (numbers.momentum != 0 || velocity) {
    check_array(checks, "velocity", velocity, weight);
    written.push_back({"velocity", velocity});
  }
  check_apart(checks, written, {"gradient", gradient});
  return weight.dtype() == DType::float64 ? sgd_of<double>(weight, gradient, velocity, numbers)
                                          : sgd_of<float>(weight, gradient, velocity, numbers);
}

}  // namespace volvelle
