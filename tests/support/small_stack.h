#pragma once

#include <string>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/stack.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::testing {

/// Two layers of width 6 with 2 heads and feed-forwards of 7.
StackOptions small_stack(const std::string& placement, DType dtype = DType::float64);

/// Normal numbers (batch, tokens, width) that ask for a gradient.
Variable stack_input(const StackOptions& options, std::int64_t tokens = 4, std::int64_t batch = 2);

/// Output, then the gradient of x and of every parameter, for a fixed gradient of the output.
std::vector<Tensor> run_stack(const Stack& stack, const Variable& x, const ForwardOptions& how = {},
                              StackTrace* trace = nullptr);

bool same_bits(const Tensor& a, const Tensor& b);
void expect_same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                      const std::string& what);

}  // namespace volvelle::testing
