#include "support/small_stack.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/gradient_check.h"
#include "volvelle/autograd/backward.h"

namespace volvelle::testing {

StackOptions small_stack(const std::string& placement, DType dtype) {
  return {.layers = 2,
          .width = 6,
          .heads = 2,
          .feed_forward = 7,
          .placement = placement,
          .activation = Activation::gelu,
          .dtype = dtype};
}

Variable stack_input(const StackOptions& options, std::int64_t tokens, std::int64_t batch) {
  const Tensor numbers = normal_input({batch, tokens, options.width}, 5);
  return Variable(converted(numbers.view(), options.dtype), true);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a && b && a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

std::vector<Tensor> run_stack(const Stack& stack, const Variable& x, const ForwardOptions& how,
                              StackTrace* trace) {
  std::vector<Variable> leaves{x};
  for (const NamedParameter& parameter : stack.parameters()) leaves.push_back(parameter.variable);
  for (Variable& leaf : leaves) leaf.clear_grad();
  const Variable y = stack.forward(x, how, trace);
  backward(y, converted(normal_input(y.shape(), 9).view(), y.dtype()).view());
  std::vector<Tensor> all{y.value()};
  for (Variable& leaf : leaves) {
    all.push_back(copy_of(leaf.grad().view()));
    leaf.clear_grad();
  }
  return all;
}

void expect_same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                      const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(same_bits(a[i], b[i])) << what << ": " << i;
}

}  // namespace volvelle::testing
