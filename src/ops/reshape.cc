#include "volvelle/ops/reshape.h"

#include <utility>

#include "ops/checks.h"
#include "ops/pass_on.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("reshape");

}  // namespace

Variable reshape(const Variable& x, const Shape& shape) {
  if (!x) kChecks.refuse("x is missing");
  return record_view("reshape", x.value().reshaped(shape), x,
                     [before = x.shape()](GradientPass& pass) {
                       Tensor gradient = pass.take_grad_output();
                       gradient = gradient.reshaped(before);
                       pass_on(pass, 0, std::move(gradient));
                     });
}

}  // namespace volvelle
