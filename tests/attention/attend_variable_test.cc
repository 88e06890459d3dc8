#include "volvelle/attention/attend_variable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::GradientCheck;
using ::testing::HasSubstr;
using testing::normal_input;
using testing::values_of;

Variable leaf(const Shape& shape, std::uint64_t seed, DType dtype = DType::float32) {
  return Variable(converted(normal_input(shape, seed).view(), dtype), true);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

// Columns [first, first + heads * width) of (B,T,C) as a copy of shape (B,heads,T,width).
Tensor heads_of(const Tensor& tokens, std::int64_t first, std::int64_t heads, std::int64_t width) {
  const std::int64_t b = tokens.shape()[0], t = tokens.shape()[1], c = tokens.shape()[2];
  return copy_of(View(tokens.data<float>() + first, {b, heads, t, width}, {t * c, width, c, 1}));
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(AttendVariable, HeadsAreColumnsOfTokenVectors) {
  const Variable q = leaf({2, 5, 4 * 3}, 1), k = leaf({2, 7, 2 * 3}, 2), v = leaf({2, 7, 2 * 5}, 3);
  const Variable output =
      attend(q, k, v, {.heads = 4, .key_heads = 2, .rules = {.softcap = 3, .causal = true}});
  const Tensor qh = heads_of(q.value(), 0, 4, 3);
  const Tensor kh = heads_of(k.value(), 0, 2, 3);
  const Tensor vh = heads_of(v.value(), 0, 2, 5);
  const AttentionResult right =
      attend({.q = qh.view(), .k = kh.view(), .v = vh.view(), .softcap = 3, .causal = true});
  EXPECT_EQ(output.shape(), (Shape{2, 5, 20}));
  EXPECT_TRUE(same_bits(heads_of(output.value(), 0, 4, 5), right.output));
}

TEST(AttendVariable, APackedArrayGivesTheSameBitsAsThreeOfThem) {
  const Variable packed = leaf({2, 6, (4 + 2 * 2) * 3}, 4);
  const auto part = [&](std::int64_t first, std::int64_t columns) {
    return Variable(
        copy_of(View(packed.value().data<float>() + first, {2, 6, columns}, {6 * 24, 24, 1})),
        true);
  };
  const Variable q = part(0, 12), k = part(12, 6), v = part(18, 6);
  const AttendVariableOptions options{.heads = 4, .key_heads = 2, .rules = {.causal = true}};
  const Variable one = attend_packed(packed, options);
  const Variable three = attend(q, k, v, options);
  EXPECT_TRUE(same_bits(one.value(), three.value()));
  const Tensor grad = converted(normal_input(one.shape(), 5).view(), DType::float32);
  backward(one, grad.view());
  backward(three, grad.view());
  const float* whole = packed.grad().data<float>();
  for (std::int64_t row = 0; row < 12; ++row) {
    const auto expect_part = [&](const Variable& variable, std::int64_t first) {
      const std::int64_t columns = variable.shape()[2];
      EXPECT_EQ(std::memcmp(whole + row * 24 + first, variable.grad().data<float>() + row * columns,
                            static_cast<std::size_t>(columns) * sizeof(float)),
                0);
    };
    expect_part(q, 0);
    expect_part(k, 12);
    expect_part(v, 18);
  }
}

TEST(AttendVariable, GradientsAreThoseOfDifferences) {
  expect_gradients(
      [](const std::vector<Variable>& in) {
        return attend(in[0], in[1], in[2],
                      {.heads = 4, .key_heads = 2, .rules = {.softcap = 2, .causal = true}});
      },
      {normal_input({2, 3, 8}, 1), normal_input({2, 5, 4}, 2), normal_input({2, 5, 6}, 3)});
}

TEST(AttendVariable, GradientsOfAPackedArrayAreThoseOfDifferences) {
  expect_gradients(
      [](const std::vector<Variable>& in) {
        return attend_packed(in[0], {.heads = 2, .rules = {.causal = true, .window = 3}});
      },
      {normal_input({2, 5, 12}, 1)});
}

// Everything that is added to scores has a gradient, and so has the sink.
TEST(AttendVariable, GradientsOfEveryBiasAreThoseOfDifferences) {
  const std::int32_t lengths[] = {4, 3};
  expect_gradients(
      [&](const std::vector<Variable>& in) {
        return attend(in[0], in[1], in[2],
                      {.heads = 2,
                       .rules = {.buckets = Buckets::two_way,
                                 .max_distance = 6,
                                 .key_lengths = View(lengths, {2})},
                       .bias = in[3],
                       .slopes = in[4],
                       .bias_table = in[5],
                       .bucket_table = in[6],
                       .sinks = in[7]});
      },
      {normal_input({2, 3, 4}, 1), normal_input({2, 4, 4}, 2), normal_input({2, 4, 4}, 3),
       normal_input({3, 4}, 4), normal_input({2}, 5), normal_input({2, 5}, 6),
       normal_input({2, 4}, 7), normal_input({2}, 8)});
}

TEST(AttendVariable, GradientsUnderDropoutAreThoseOfDifferences) {
  expect_gradients(
      [](const std::vector<Variable>& in) {
        return attend_packed(in[0], {.heads = 2, .rules = {.dropout = 0.3, .dropout_seed = 11}});
      },
      {normal_input({1, 6, 12}, 1)});
}

TEST(AttendVariable, TokensNeedNoBatchAxis) {
  const Variable q = leaf({5, 6}, 1);
  const Variable batched(q.value().reshaped({1, 5, 6}));
  const Variable flat = attend(q, q, q, {.heads = 2});
  EXPECT_EQ(flat.shape(), (Shape{5, 6}));
  EXPECT_TRUE(same_bits(flat.value().reshaped({1, 5, 6}),
                        attend(batched, batched, batched, {.heads = 2}).value()));
  expect_gradients(
      [](const std::vector<Variable>& in) { return attend(in[0], in[0], in[0], {.heads = 2}); },
      {normal_input({3, 4}, 1)});
}

TEST(AttendVariable, ArraysOfTheRulesNeedNotOutliveTheCall) {
  const Variable x = leaf({2, 4, 12}, 1), y = leaf({2, 4, 12}, 1);
  const std::vector<std::int32_t> kept{2, 4};
  const auto with = [&](const Variable& tokens, const std::vector<std::int32_t>& lengths) {
    return attend_packed(tokens, {.heads = 2, .rules = {.key_lengths = View(lengths.data(), {2})}});
  };
  std::vector<std::int32_t> gone{2, 4};
  const Variable a = with(x, kept);
  const Variable b = with(y, gone);
  gone = {4, 1};
  const Tensor grad = converted(normal_input(a.shape(), 2).view(), DType::float32);
  backward(a, grad.view());
  backward(b, grad.view());
  EXPECT_TRUE(same_bits(x.grad(), y.grad()));
}

TEST(AttendVariable, NoTokensAreSequencesToo) {
  for (const std::int64_t batch : {0, 1, 2}) {
    const Variable q = leaf({batch, 0, 8}, 1);
    const Variable output = attend(q, q, q, {.heads = 2});
    EXPECT_EQ(output.shape(), (Shape{batch, 0, 8}));
    backward(output, Tensor(DType::float32, output.shape()).view());
    EXPECT_EQ(q.grad().shape(), q.shape());
  }
}

TEST(AttendVariable, StaysInBfloat16) {
  const Variable x = leaf({2, 9, 24}, 1, DType::bfloat16);
  const Variable exact(converted(x.view(), DType::float64), true);
  const Variable output = attend_packed(x, {.heads = 2, .rules = {.causal = true}});
  EXPECT_EQ(output.dtype(), DType::bfloat16);
  const Variable right = attend_packed(exact, {.heads = 2, .rules = {.causal = true}});
  const Tensor grad = converted(normal_input(output.shape(), 2).view(), DType::bfloat16);
  backward(output, grad.view());
  backward(right, converted(grad.view(), DType::float64).view());
  EXPECT_EQ(x.grad().dtype(), DType::bfloat16);
  const auto near = [](const View& ours, const View& theirs) {
    const std::vector<double> a = values_of(ours), b = values_of(theirs);
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
  };
  EXPECT_LT(near(output.view(), right.view()), 0.03);
  EXPECT_LT(near(x.grad().view(), exact.grad().view()), 0.06);
}

TEST(AttendVariable, ThreadsChangeNoBit) {
  Tensor outputs[3], gradients[3];
  for (int i = 0; i < 3; ++i) {
    const Variable x = leaf({3, 67, 4 * 16 * 3}, 1);
    const int threads[] = {1, 2, 8};
    const Variable output =
        attend_packed(x, {.heads = 4, .rules = {.causal = true}, .threads = threads[i]});
    backward(output, converted(normal_input(output.shape(), 2).view(), DType::float32).view());
    outputs[i] = output.value();
    gradients[i] = x.grad();
  }
  for (int i = 1; i < 3; ++i) {
    EXPECT_TRUE(same_bits(outputs[0], outputs[i]));
    EXPECT_TRUE(same_bits(gradients[0], gradients[i]));
  }
}

TEST(AttendVariable, WithoutATapeNothingLeadsBack) {
  const Variable x = leaf({1, 4, 12}, 1);
  const NoGrad off;
  EXPECT_FALSE(attend_packed(x, {.heads = 2}).requires_grad());
}

TEST(AttendVariable, ChangesInPlaceAreNoticed) {
  Variable x = leaf({1, 4, 12}, 1);
  const Variable output = attend_packed(x, {.heads = 2});
  x.change();
  const Tensor grad = Tensor::zeros(DType::float32, output.shape());
  EXPECT_THAT(refusal([&] { backward(output, grad.view()); }), HasSubstr("changed in place"));
  Variable other = attend_packed(leaf({1, 4, 12}, 1), {.heads = 2});
  other.change();
  EXPECT_THAT(refusal([&] { backward(other, grad.view()); }), HasSubstr("changed in place"));
}

TEST(AttendVariable, RefusesWhatDoesNotFit) {
  const Variable x = leaf({1, 4, 12}, 1);
  const float slopes[] = {1, 1};
  const View two(slopes, {2});
  EXPECT_THAT(refusal([&] { attend_packed(x, {.heads = 5}); }),
              HasSubstr("[attend] qkv (1,4,12) has 12 columns, which 15 heads do not divide"));
  EXPECT_THAT(refusal([&] { attend(x, x, x, {.heads = 7}); }), HasSubstr("q (1,4,12)"));
  EXPECT_THAT(refusal([&] { attend(x, x, x, {.heads = 0}); }), HasSubstr("must be positive"));
  EXPECT_THAT(refusal([&] {
                attend(x, leaf({1, 4, 24}, 1), leaf({1, 4, 24}, 1), {.heads = 2, .key_heads = 4});
              }),
              HasSubstr("H=2 is not a multiple of G=4"));
  EXPECT_THAT(refusal([&] { attend(x, {}, x, {.heads = 2}); }), HasSubstr("k is absent"));
  EXPECT_THAT(refusal([&] { attend(leaf({1, 2, 3, 4}, 1), x, x, {.heads = 2}); }),
              HasSubstr("token vectors"));
  EXPECT_THAT(refusal([&] { attend(x, x, x, {.heads = 2, .rules = {.q = x.view()}}); }),
              HasSubstr("leave them out of the rules"));
  EXPECT_THAT(refusal([&] {
                attend(x, x, x, {.heads = 2, .rules = {.slopes = two}, .slopes = leaf({2}, 1)});
              }),
              HasSubstr("slopes is given twice"));
}

}  // namespace
}  // namespace volvelle
