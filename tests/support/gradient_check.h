#pragma once

#include <functional>
#include <string>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::testing {

/// Any function on the tape: operators, modules. Its result may have any shape; what is checked is
/// the gradient of sum(w * result) for fixed random weights w.
using VariableFunction = std::function<Variable(const std::vector<Variable>& inputs)>;

struct GradientCheck {
  /// In which the gradients under test are computed; the differences are float64 always, so the
  /// function must serve both.
  DType dtype = DType::float64;
  /// Inputs whose gradient is zero by symmetry (a bias on keys): must be tiny, and nothing is
  /// expected of their control.
  std::vector<int> zero = {};
  /// Inputs that ask for no gradient.
  std::vector<int> fixed = {};
  std::uint64_t seed = 1;  ///< of w
};

/// How far gradients are from central differences.
struct GradientReport {
  double worst = 0;  ///< error over what is allowed: 1 and less passes
  int input = -1;    ///< where that is
  std::int64_t element = -1;
  double computed = 0, difference = 0;

  bool passes() const { return worst <= 1; }
  std::string text() const;
};

/// Gradients of every element of every input (float64 tensors; rounded to `check.dtype` first),
/// beside central differences.
GradientReport check_gradients(const VariableFunction& function, const std::vector<Tensor>& inputs,
                               const GradientCheck& check = {});

/// The same for variables that the function reaches by itself, the parameters of a module say:
/// float64 leaves, which are changed and put back.
GradientReport check_gradients(const std::function<Variable()>& function,
                               const std::vector<Variable>& leaves,
                               const GradientCheck& check = {});

/// Expects that they agree, and, as control for each input, that the check notices when that
/// input's gradient is a fifth too large at every place, and when it is missing at the place where
/// it is largest.
void expect_gradients(const VariableFunction& function, const std::vector<Tensor>& inputs,
                      const GradientCheck& check = {});
void expect_gradients(const std::function<Variable()>& function,
                      const std::vector<Variable>& leaves, const GradientCheck& check = {});

/// x itself, whose gradient comes back multiplied by `factor`: a deliberately wrong backward, for
/// controls in the middle of a function.
Variable wrong_gradient(const Variable& x, double factor);

/// Normal numbers in float64, the same for the same seed.
Tensor normal_input(const Shape& shape, std::uint64_t seed);
/// The same, rounded to float32.
Tensor normal_floats(const Shape& shape, std::uint64_t seed);

}  // namespace volvelle::testing
