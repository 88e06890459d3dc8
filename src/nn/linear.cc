#include "volvelle/nn/linear.h"

#include <utility>

#include "nn/parameter.h"

namespace volvelle {

Linear::Linear(std::int64_t inputs, std::int64_t outputs, Bias bias, DType dtype) {
  check_size("linear", "inputs", inputs);
  check_size("linear", "outputs", outputs);
  weight_ = make_parameter("linear", dtype, {outputs, inputs});
  if (bias == Bias::with) bias_ = make_parameter("linear", dtype, {outputs});
  add_parameter("weight", weight_);
  add_parameter("bias", bias_);
}

Variable Linear::forward(const Variable& x, const ForwardOptions& how,
                         LinearVariableOptions finish) const {
  finish.compute = compute_of(weight_.dtype(), how);
  finish.threads = how.threads;
  return linear(x, weight_, bias_, finish);
}

void Linear::initialize(Initializer& initializer) { initializer.linear(weight_, bias_); }

void Linear::initialize_branch_end(Initializer& initializer) {
  initializer.branch_end(weight_, bias_);
}

}  // namespace volvelle
