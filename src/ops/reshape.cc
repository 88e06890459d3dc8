#include "volvelle/ops/reshape.h"

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
                       pass_on(pass, 0, pass.take_grad_output().reshaped(before));
                     });
}

}  // namespace volvelle
