// Norms, softmax, activations and cross-entropy beside what PyTorch gives for all their options
// (tests/golden/make_operators.py).

#include <gtest/gtest.h>

#include <string>

#include "support/golden_arrays.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/ops/activate.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/ops/norms.h"
#include "volvelle/ops/softmax.h"

namespace volvelle {
namespace {

using testing::GoldenArrays;

const GoldenArrays& golden() {
  static const GoldenArrays arrays("operators/operators.npz");
  return arrays;
}

class GoldenOperators : public ::testing::TestWithParam<DType> {
 protected:
  Variable leaf(const std::string& name) { return Variable(golden().get(name, GetParam()), true); }

  void expect_same(const std::string& name, const View& ours) {
    EXPECT_EQ(golden().difference(name, ours), "") << name;
  }

  // `y` and what its gradient makes of that of x and of one other input.
  void expect(const std::string& name, const Variable& y, const Variable& x,
              const std::string& other_name = "", const Variable& other = {}) {
    expect_same(name + ".y", y.view());
    backward(y, golden().get("grad_y", GetParam()).view());
    expect_same(name + ".grad_x", x.grad().view());
    if (other) expect_same(name + ".grad_" + other_name, other.grad().view());
  }
};

TEST_P(GoldenOperators, LayerNorm) {
  const Variable x = leaf("x"), weight = leaf("weight"), bias = leaf("bias");
  expect("layer", layer_norm(x, weight, bias), x, "weight", weight);
  expect_same("layer.grad_bias", bias.grad().view());
  const Variable plain = leaf("x");
  expect("layer_plain", layer_norm(plain, {}, {}, {.epsilon = 0.1}), plain);
  const Variable far = leaf("far");
  const Variable y = layer_norm(far, {}, {});
  expect_same("layer_far.y", y.view());
  const Tensor grad_y = golden().get("grad_y", GetParam());
  backward(y, View(grad_y.raw(), GetParam(), {4, 20}));  // its first rows
  expect_same("layer_far.grad_x", far.grad().view());
  // Control: another epsilon is another result.
  const Variable other = layer_norm(plain, {}, {}, {.epsilon = 0.2});
  EXPECT_NE(golden().difference("layer_plain.y", other.view()), "");
}

TEST_P(GoldenOperators, RmsNorm) {
  const Variable x = leaf("x"), weight = leaf("weight");
  expect("rms", rms_norm(x, weight), x, "weight", weight);
  const Variable plain = leaf("x");
  expect("rms_plain", rms_norm(plain, {}, {.epsilon = 0.1}), plain);
  const Variable again = leaf("x"), offset = leaf("weight");
  expect("rms_offset", rms_norm(again, offset, {.weight_offset = 1}), again, "weight", offset);
  EXPECT_NE(golden().difference("rms.y", rms_norm(x, offset, {.weight_offset = 1}).view()), "");
}

TEST_P(GoldenOperators, Softmax) {
  const Variable x = leaf("x");
  expect("softmax", softmax(x), x);
}

TEST_P(GoldenOperators, Activations) {
  for (const Activation activation :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    const std::string name(name_of(activation));
    const Variable x = leaf("x"), gate = leaf("x"), up = leaf("up");
    expect(name, activate(x, activation), x);
    expect(name + "_gated", gated(gate, up, activation), gate, "up", up);
  }
  EXPECT_NE(golden().difference("relu.y", activate(leaf("x"), Activation::gelu).view()), "");
}

TEST_P(GoldenOperators, CrossEntropy) {
  const auto labels = [](DType dtype) { return golden().get("labels", dtype); };
  const auto expect_loss = [&](const std::string& name, const Tensor& of,
                               const CrossEntropyOptions& options) {
    const Variable logits = leaf("logits");
    const Variable loss = cross_entropy(logits, of.view(), options);
    expect_same(name + ".y", loss.view());
    backward(loss);
    expect_same(name + ".grad_logits", logits.grad().view());
  };
  for (const DType dtype : {DType::int64, DType::int32}) {
    expect_loss("loss", labels(dtype), {});
    expect_loss("loss_smooth", labels(dtype), {.label_smoothing = 0.1});
    expect_loss("loss_count_32", labels(dtype), {.count = 32});
  }
  Tensor threes = labels(DType::int64);
  for (std::int64_t i = 0; i < threes.size(); ++i) {
    std::int64_t& label = threes.data<std::int64_t>()[i];
    if (label < 0) label = 3;
  }
  expect_loss("loss_ignored_3", threes, {.ignore_index = 3});
  const Variable other =
      cross_entropy(leaf("logits"), labels(DType::int64).view(), {.label_smoothing = 0.2});
  EXPECT_NE(golden().difference("loss_smooth.y", other.view()), "");
}

INSTANTIATE_TEST_SUITE_P(Dtypes, GoldenOperators,
                         ::testing::Values(DType::float32, DType::float64, DType::bfloat16),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace volvelle
