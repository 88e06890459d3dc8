#include "volvelle/nn/multi_head_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/state.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::fill_parameters;
using ::testing::HasSubstr;
using testing::normal_input;

MultiHeadAttentionOptions small() { return {.width = 6, .heads = 2, .dtype = DType::float64}; }

std::string refusal(MultiHeadAttentionOptions options) {
  try {
    const MultiHeadAttention attention(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

double largest_difference(const Variable& a, const Variable& b) {
  double most = a.shape() == b.shape() ? 0 : 1e300;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a.value().data<double>()[i] - b.value().data<double>()[i]));
  }
  return most;
}

TEST(MultiHeadAttention, SeparateProjectionsAreThePackedOnesCutApart) {
  MultiHeadAttentionOptions options = small();
  options.heads = 6;
  options.key_heads = 2;
  const MultiHeadAttention packed(options);
  options.separate = true;
  MultiHeadAttention apart(options);
  fill_parameters(packed, 1);
  NamedArrays arrays = state_of(packed);
  const Tensor whole = arrays[0].array;
  ASSERT_EQ(arrays[0].name, "in_proj_weight");
  ASSERT_EQ(whole.shape(), (Shape{10, 6}));
  arrays.erase(arrays.begin());
  const double* rows = whole.data<double>();
  arrays.push_back({"q_proj_weight", copy_of(View(rows, {6, 6}))});
  arrays.push_back({"k_proj_weight", copy_of(View(rows + 36, {2, 6}))});
  arrays.push_back({"v_proj_weight", copy_of(View(rows + 48, {2, 6}))});
  load_state(apart, arrays);
  const Variable x(normal_input({2, 4, 6}, 1)), memory(normal_input({2, 5, 6}, 2));
  EXPECT_LT(largest_difference(packed.forward(x), apart.forward(x)), 1e-14);
  EXPECT_LT(largest_difference(packed.forward(x, {}, {.memory = memory}),
                               apart.forward(x, {}, {.memory = memory})),
            1e-14);
  EXPECT_GT(largest_difference(packed.forward(x), apart.forward(x, {}, {.memory = memory})), 1e-3);
}

// Keys and values from another sequence, through packed projections and through separate ones.
TEST(MultiHeadAttention, GradientsFromAnotherSequenceAreThoseOfDifferences) {
  for (const std::int64_t width : {6, 3}) {
    MultiHeadAttentionOptions options = small();
    options.memory_width = width;
    options.query_key_norm = width == 3;
    const MultiHeadAttention attention(options);
    fill_parameters(attention, 1);
    const Variable x(normal_input({1, 3, 6}, 1)), memory(normal_input({1, 4, width}, 2));
    const Variable residual(normal_input({1, 3, 6}, 3));
    std::vector<Variable> leaves{x, memory, residual};
    for (const NamedParameter& parameter : attention.parameters()) {
      leaves.push_back(parameter.variable);
    }
    expect_gradients(
        [&] { return attention.forward(x, {}, {.memory = memory, .residual = residual}); }, leaves);
  }
}

TEST(MultiHeadAttention, TakesRulesWithEachCall) {
  const MultiHeadAttention attention(small());
  fill_parameters(attention, 1);
  const Variable x(normal_input({2, 4, 6}, 1));
  const std::int32_t lengths[] = {2, 4};
  const Variable cut = attention.forward(x, {}, {.rules = {.key_lengths = View(lengths, {2})}});
  const Variable whole = attention.forward(x);
  const auto row = [](const Variable& of, int n) { return of.value().data<double>() + 24 * n; };
  EXPECT_NE(std::memcmp(row(cut, 0), row(whole, 0), 24 * sizeof(double)), 0);
  EXPECT_EQ(std::memcmp(row(cut, 1), row(whole, 1), 24 * sizeof(double)), 0);
  EXPECT_THROW(attention.forward(x, {}, {.rules = {.dropout = 0.5}}), InvalidArgument);
}

TEST(MultiHeadAttention, RefusesSizesThatDoNotFit) {
  const auto with = [](const auto& change) {
    MultiHeadAttentionOptions options = small();
    change(options);
    return refusal(options);
  };
  EXPECT_THAT(with([](auto& o) { o.heads = 4; }),
              HasSubstr("[multi-head attention] width=6 is not a multiple of heads=4"));
  EXPECT_THAT(with([](auto& o) { o.heads = 3, o.key_heads = 2; }),
              HasSubstr("heads=3 is not a multiple of key_heads=2"));
  EXPECT_THAT(with([](auto& o) { o.width = 0; }), HasSubstr("width=0 must be positive"));
  EXPECT_THAT(with([](auto& o) { o.heads = 0; }), HasSubstr("heads=0 must be positive"));
  EXPECT_THAT(with([](auto& o) { o.key_heads = -1; }), HasSubstr("key_heads=-1"));
  EXPECT_THAT(with([](auto& o) { o.head_width = -1; }), HasSubstr("head_width=-1"));
  EXPECT_THAT(with([](auto& o) { o.memory_width = -1; }), HasSubstr("memory_width=-1"));
  EXPECT_THAT(with([](auto& o) { o.dropout = -0.1; }), HasSubstr("[0, 1)"));
}

}  // namespace
}  // namespace volvelle
