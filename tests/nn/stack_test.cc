#include "volvelle/nn/stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "support/small_stack.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::AllOf;
using testing::fill_parameters;
using ::testing::HasSubstr;
using testing::normal_input;
using testing::run_stack;
using testing::small_stack;
using testing::stack_input;
using testing::values_of;

TEST(Stack, AFinalNormComesWhereTheStreamNeedsOneAndWhereItIsAskedFor) {
  const auto has = [](const char* placement, FinalNorm final_norm) {
    StackOptions options = small_stack(placement);
    options.final_norm = final_norm;
    return Stack(options).has_final_norm();
  };
  EXPECT_TRUE(has("pre", FinalNorm::automatic));
  EXPECT_TRUE(has("none", FinalNorm::automatic));
  EXPECT_FALSE(has("post", FinalNorm::automatic));
  EXPECT_FALSE(has("pre", FinalNorm::no));
  EXPECT_TRUE(has("post", FinalNorm::yes));
}

TEST(Stack, ATraceKeepsGradientsOfTheStream) {
  const StackOptions options = small_stack("pre");
  const Stack stack(options);
  fill_parameters(stack, 3);
  StackTrace trace;
  const Variable y = stack.forward(stack_input(options), {}, &trace);
  trace.inputs[1].retain_grad();
  backward(y, normal_input(y.shape(), 9).view());
  EXPECT_TRUE(trace.inputs[1].grad());
}

TEST(Stack, ProductsInBfloat16LeaveStreamAndParametersInFloat32) {
  const StackOptions options = small_stack("pre", DType::float32);
  const Stack stack(options);
  fill_parameters(stack, 3);
  const Variable x = stack_input(options);
  const std::vector<Tensor> exact = run_stack(stack, x);
  const std::vector<Tensor> rounded = run_stack(stack, x, {.compute = DType::bfloat16});
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(rounded[i].dtype(), DType::float32);
    const std::vector<double> a = values_of(exact[i].view()), b = values_of(rounded[i].view());
    double most = 0, error = 0;
    for (std::size_t e = 0; e < a.size(); ++e) {
      most = std::max(most, std::fabs(a[e]));
      error = std::max(error, std::fabs(a[e] - b[e]));
    }
    EXPECT_LT(error, 0.05 * most) << i;
    if (i < 3) {
      EXPECT_GT(error, 0) << i << ": were they rounded?";
    }
  }
}

TEST(Stack, SublayersThatComeTwiceAreNumbered) {
  const Stack stack(
      small_stack("x + 0.5 * feed_forward(norm(x)); x + attention(norm(x)); "
                  "norm(x + 0.5 * feed_forward(norm(x)))"));
  std::string names;
  for (const NamedParameter& parameter : stack.parameters()) {
    if (parameter.name.ends_with(".weight") && parameter.name.starts_with("layers.1.")) {
      names += parameter.name.substr(9) + " ";
    }
  }
  EXPECT_EQ(names,
            "self_attn.out_proj.weight linear1.weight linear2.weight "
            "feed_forward_2.linear1.weight feed_forward_2.linear2.weight norm1.weight "
            "norm2.weight norm3.weight norm4.weight ");
}

std::string refusal(const StackOptions& options) {
  try {
    const Stack stack(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(Stack, RefusesSizesAndNamesThatDoNotFit) {
  const auto with = [](const auto& change) {
    StackOptions options = small_stack("pre");
    change(options);
    return refusal(options);
  };
  EXPECT_THAT(with([](StackOptions& o) { o.heads = 4; }),
              HasSubstr("[stack] width=6 is not a multiple of heads=4"));
  EXPECT_THAT(with([](StackOptions& o) { o.heads = 4, o.head_width = 2; }),
              HasSubstr("(accepted)"));
  EXPECT_THAT(with([](StackOptions& o) { o.heads = 6, o.key_heads = 4; }),
              HasSubstr("heads=6 is not a multiple of key_heads=4"));
  EXPECT_THAT(with([](StackOptions& o) { o.placement = "prre"; }),
              HasSubstr("did you mean 'pre'?"));
  EXPECT_THAT(with([](StackOptions& o) { o.layers = 0; }), HasSubstr("layers=0 must be positive"));
  EXPECT_THAT(with([](StackOptions& o) { o.layers = 1'000'000'000; }), HasSubstr("at most"));
  EXPECT_THAT(with([](StackOptions& o) { o.width = -6; }), HasSubstr("width=-6 must be positive"));
  EXPECT_THAT(with([](StackOptions& o) { o.heads = 0; }), HasSubstr("heads=0 must be positive"));
  EXPECT_THAT(with([](StackOptions& o) { o.feed_forward = 0; }), HasSubstr("feed_forward=0"));
  EXPECT_THAT(with([](StackOptions& o) { o.key_heads = -1; }), HasSubstr("key_heads=-1"));
  EXPECT_THAT(with([](StackOptions& o) { o.dropout = 1; }), HasSubstr("must be in [0, 1)"));
  EXPECT_THAT(with([](StackOptions& o) { o.epsilon = -1; }), HasSubstr("epsilon"));
  EXPECT_THAT(with([](StackOptions& o) { o.dtype = DType::bfloat16; }),
              HasSubstr("ForwardOptions::compute"));
}

// 12 width^2 parameters a layer: said before a byte is allocated.
TEST(Stack, RefusesWhatWouldNotFitInMemoryWithItsSize) {
  StackOptions options = small_stack("pre", DType::float32);
  options.layers = 1000;
  options.width = 1 << 20;
  options.feed_forward = 4 << 20;
  EXPECT_THAT(refusal(options),
              AllOf(HasSubstr("[stack] 1.319e+16 parameters of float32 need 46.88 PiB"),
                    HasSubstr("this machine has")));
  options.width = std::int64_t{1} << 60;
  options.feed_forward = INT64_MAX;
  EXPECT_THAT(refusal(options), HasSubstr("parameters of float32 need"));
}

TEST(Stack, RefusesInputsThatDoNotFit) {
  StackOptions options = small_stack("pre", DType::float32);
  options.recompute = true;
  const Stack stack(options);
  const auto wrong = [&](const Tensor& x) { return [&stack, x] { stack.forward(Variable(x)); }; };
  EXPECT_THROW(wrong(Tensor::zeros(DType::float32, {2, 3, 5}))(), InvalidArgument);
  EXPECT_THROW(wrong(Tensor::zeros(DType::float64, {2, 3, 6}))(), InvalidArgument);
  EXPECT_THROW(wrong(Tensor::zeros(DType::float32, {6}))(), InvalidArgument);
  EXPECT_THROW(stack.forward({}), InvalidArgument);
  const Variable x(Tensor::zeros(DType::float32, {2, 3, 6}));
  EXPECT_THROW(stack.forward(x, {.compute = DType::float16}), InvalidArgument);
  StackTrace trace;
  EXPECT_THROW(stack.forward(x, {}, &trace), InvalidArgument);
  const NoGrad off;
  stack.forward(x, {}, &trace);
  EXPECT_EQ(trace.inputs.size(), 3u);
}

}  // namespace
}  // namespace volvelle
