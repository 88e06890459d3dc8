#include "support/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/random_numbers.h"
#include "support/arrays.h"
#include "tensor/convert.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/autograd/tape.h"

namespace volvelle::testing {
namespace {

// A difference over 2h is off by h^2 (third derivatives) and by the roundoff of the sum over h:
// 1e-5 leaves some 1e-10 of each.
constexpr double kStep = 1e-5;

// Of an element, as a share of it and of its input's largest: what differences leave in float64,
// some tens of roundings in the narrower ones.
double allowed_share(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 2e-7;
    case DType::float32:
      return 2e-5;
    default:
      return 4e-2;  // bfloat16: rounded at each operator on the way
  }
}

bool holds(const std::vector<int>& list, std::size_t input) {
  return std::find(list.begin(), list.end(), static_cast<int>(input)) != list.end();
}

using Gradients = std::vector<std::vector<double>>;  // of each input; empty: not asked for

struct Measured {
  Gradients computed, differences;
};

Tensor weights_for(const Variable& result, std::uint64_t seed) {
  RandomNumbers random(seed);
  return filled(result.dtype(), result.shape(), [&] { return random.normal(); });
}

double weighted_sum(const Variable& result, const std::vector<double>& weights) {
  const std::vector<double> values = values_of(result.view());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * values[i];
  return sum;
}

Gradients differences(const std::function<Variable()>& function,
                      const std::vector<Variable>& leaves, const std::vector<double>& weights,
                      const GradientCheck& check) {
  const NoGrad off;
  Gradients all(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (holds(check.fixed, i)) continue;
    Variable leaf = leaves[i];
    for (std::int64_t e = 0; e < leaf.size(); ++e) {
      const double was = leaf.value().data<double>()[e];
      const double step = kStep * std::max(1.0, std::fabs(was));
      double sums[2];
      for (const int side : {0, 1}) {
        static_cast<double*>(leaf.change().data())[e] = was + (side == 0 ? step : -step);
        sums[side] = weighted_sum(function(), weights);
      }
      static_cast<double*>(leaf.change().data())[e] = was;
      all[i].push_back((sums[0] - sums[1]) / (2 * step));
    }
  }
  return all;
}

Gradients computed(const std::function<Variable()>& function, std::vector<Variable> leaves,
                   const GradientCheck& check, std::vector<double>& weights) {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].set_requires_grad(!holds(check.fixed, i));
    leaves[i].clear_grad();
  }
  const Variable result = function();
  const Tensor grad_output = weights_for(result, check.seed);
  weights = values_of(grad_output.view());
  backward(result, grad_output.view());
  Gradients all(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (holds(check.fixed, i)) continue;
    const Tensor gradient = leaves[i].grad();
    all[i] = gradient ? values_of(gradient.view())
                      : std::vector<double>(static_cast<std::size_t>(leaves[i].size()), 0.0);
    leaves[i].clear_grad();
  }
  return all;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

GradientReport compared(const Measured& measured, const GradientCheck& check) {
  const double share = allowed_share(check.dtype);
  double most = 0;
  for (const std::vector<double>& of_input : measured.differences) {
    most = std::max(most, largest(of_input));
  }
  GradientReport report;
  for (std::size_t i = 0; i < measured.differences.size(); ++i) {
    const std::vector<double>& right = measured.differences[i];
    // What vanishes by symmetry is a sum of terms as large as other gradients.
    const double scale = holds(check.zero, i) ? most : largest(right);
    for (std::size_t e = 0; e < right.size(); ++e) {
      const double ours = measured.computed[i][e];
      const double allowed = share * (scale + std::fabs(right[e])) + 1e-300;
      const double error = std::fabs(ours - right[e]) / allowed;
      if (error <= report.worst) continue;  // NaN goes on
      report = {std::isnan(error) ? INFINITY : error, static_cast<int>(i),
                static_cast<std::int64_t>(e), ours, right[e]};
    }
  }
  return report;
}

Measured measure(const std::function<Variable()>& function, const std::vector<Variable>& leaves,
                 const GradientCheck& check) {
  Measured measured;
  std::vector<double> weights;
  measured.computed = computed(function, leaves, check, weights);
  measured.differences = differences(function, leaves, weights, check);
  return measured;
}

Measured measure(const VariableFunction& function, const std::vector<Tensor>& inputs,
                 const GradientCheck& check) {
  std::vector<Variable> under_test, exact;
  for (const Tensor& input : inputs) {
    const Tensor rounded = converted(input.view(), check.dtype);
    under_test.emplace_back(rounded);
    exact.emplace_back(converted(rounded.view(), DType::float64));
  }
  Measured measured;
  std::vector<double> weights;
  measured.computed = computed([&] { return function(under_test); }, under_test, check, weights);
  measured.differences = differences([&] { return function(exact); }, exact, weights, check);
  return measured;
}

void expect(const Measured& measured, const GradientCheck& check) {
  const GradientReport report = compared(measured, check);
  EXPECT_TRUE(report.passes()) << report.text();
  for (std::size_t i = 0; i < measured.differences.size(); ++i) {
    const std::vector<double>& right = measured.differences[i];
    if (right.empty() || holds(check.zero, i)) continue;
    Measured wrong = measured;
    for (double& value : wrong.computed[i]) value *= 1.2;
    EXPECT_FALSE(compared(wrong, check).passes())
        << "control: the gradient of input " << i << " may be a fifth too large unnoticed";
    wrong.computed[i] = measured.computed[i];
    const auto place = std::max_element(
        right.begin(), right.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    wrong.computed[i][static_cast<std::size_t>(place - right.begin())] = 0;
    EXPECT_FALSE(compared(wrong, check).passes())
        << "control: an element of the gradient of input " << i << " may be missing unnoticed";
  }
}

}  // namespace

std::string GradientReport::text() const {
  std::ostringstream text;
  text.precision(17);
  text << "gradient of input " << input << ", element " << element << ": " << computed
       << ", by differences " << difference << ", " << worst << " times what is allowed";
  return text.str();
}

GradientReport check_gradients(const VariableFunction& function, const std::vector<Tensor>& inputs,
                               const GradientCheck& check) {
  return compared(measure(function, inputs, check), check);
}

GradientReport check_gradients(const std::function<Variable()>& function,
                               const std::vector<Variable>& leaves, const GradientCheck& check) {
  return compared(measure(function, leaves, check), check);
}

void expect_gradients(const VariableFunction& function, const std::vector<Tensor>& inputs,
                      const GradientCheck& check) {
  expect(measure(function, inputs, check), check);
}

void expect_gradients(const std::function<Variable()>& function,
                      const std::vector<Variable>& leaves, const GradientCheck& check) {
  expect(measure(function, leaves, check), check);
}

Variable wrong_gradient(const Variable& x, double factor) {
  return record("wrong_gradient", x.value(), {x}, [factor, shape = x.shape()](GradientPass& pass) {
    const std::vector<double> right = values_of(pass.grad_output());
    std::size_t next = 0;
    const Tensor wrong =
        filled(pass.grad_output().dtype(), shape, [&] { return factor * right[next++]; });
    const GradientSlot slot = pass.slot(0);
    if (slot.store == Store::overwrite) return copy_elements(wrong.view(), slot.to);
    for (std::int64_t i = 0; i < wrong.size(); ++i) {
      set_element(slot.to.data(), slot.to.dtype(), i,
                  element_as_double(slot.to, i) + element_as_double(wrong.view(), i));
    }
  });
}

Tensor normal_input(const Shape& shape, std::uint64_t seed) {
  RandomNumbers random(seed);
  return filled(DType::float64, shape, [&] { return random.normal(); });
}

Tensor normal_floats(const Shape& shape, std::uint64_t seed) {
  return converted(normal_input(shape, seed).view(), DType::float32);
}

}  // namespace volvelle::testing
