#include "volvelle/nn/stack.h"

#include <gtest/gtest.h>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "support/small_stack.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/threads.h"

namespace volvelle {
namespace {

using testing::expect_same_bits;
using testing::fill_parameters;
using testing::run_stack;
using testing::same_bits;
using testing::small_stack;
using testing::stack_input;

TEST(StackBits, RecomputedActivationsChangeNoBit) {
  for (const char* placement : {"pre", "post", "sandwich"}) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      StackOptions options = small_stack(placement, dtype);
      options.dropout = 0.2;
      const Stack kept(options);
      options.recompute = true;
      const Stack again(options);
      fill_parameters(kept, 3);
      fill_parameters(again, 3);
      const ForwardOptions how{.training = true, .dropout_seed = 4};
      const Variable x = stack_input(options);
      expect_same_bits(run_stack(kept, x, how), run_stack(again, x, how), placement);
    }
  }
}

TEST(StackBits, ThreadsChangeNoBit) {
  StackOptions options = small_stack("pre", DType::float32);
  options.width = 36;
  options.heads = 3;
  options.feed_forward = 150;
  options.causal = true;
  options.dropout = 0.1;
  const Stack stack(options);
  fill_parameters(stack, 3);
  const Variable x = stack_input(options, 37, 3);
  for (const DType compute : {DType::float32, DType::bfloat16}) {
    const auto with = [&](int threads) {
      const ThreadScope scope(threads);
      return run_stack(
          stack, x, {.training = true, .compute = compute, .dropout_seed = 1, .threads = threads});
    };
    const std::vector<Tensor> one = with(1);
    expect_same_bits(one, with(2), "2 threads");
    expect_same_bits(one, with(8), "8 threads");
  }
}

TEST(StackBits, DropoutActsInTrainingOnlyAndByItsSeed) {
  StackOptions options = small_stack("pre", DType::float32);
  options.dropout = 0.5;
  const Stack stack(options);
  fill_parameters(stack, 3);
  const Variable x = stack_input(options);
  const Tensor still = stack.forward(x).value();
  options.dropout = 0;
  const Stack without(options);
  fill_parameters(without, 3);
  EXPECT_TRUE(same_bits(still, without.forward(x).value()));
  const auto dropped = [&](std::uint64_t seed) {
    return stack.forward(x, {.training = true, .dropout_seed = seed}).value();
  };
  EXPECT_TRUE(same_bits(dropped(1), dropped(1)));
  EXPECT_FALSE(same_bits(dropped(1), dropped(2)));
  EXPECT_FALSE(same_bits(dropped(1), still));
}

// Each place draws for itself: with equal parameters two layers drop other elements.
TEST(StackBits, EveryPlaceOfDropoutHasItsOwnDraws) {
  StackOptions options = small_stack("none", DType::float32);
  options.dropout = 0.5;
  options.final_norm = FinalNorm::no;
  const Stack stack(options);
  for (NamedParameter& parameter : stack.parameters()) {
    const bool is_bias = parameter.name.ends_with("bias");
    parameter.variable.replace(testing::filled(DType::float32, parameter.variable.shape(),
                                               [&]() -> double { return is_bias ? 1 : 0; }));
  }
  StackTrace trace;
  stack.forward(stack_input(options), {.training = true, .dropout_seed = 7}, &trace);
  // Every branch is its bias of ones, dropped.
  std::vector<Tensor> masks;
  for (const std::vector<Variable>& layer : trace.branches) {
    for (const Variable& branch : layer) masks.push_back(branch.value());
  }
  for (std::size_t i = 0; i < masks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same_bits(masks[i], masks[j])) << i << j;
  }
}

}  // namespace
}  // namespace volvelle
