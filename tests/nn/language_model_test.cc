#include "volvelle/nn/language_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/positions/learned.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::fill_parameters;
using ::testing::HasSubstr;

const std::int64_t kIds[] = {3, 1, 4, 0, 3, 2};

LanguageModelOptions small(bool tied, DType dtype = DType::float64) {
  return {.stack = {.layers = 1,
                    .width = 4,
                    .heads = 2,
                    .feed_forward = 3,
                    .activation = Activation::gelu_tanh,
                    .causal = true,
                    .dtype = dtype},
          .vocabulary = 5,
          .positions = "learned(rows=4)",
          .tied = tied,
          .head_bias = !tied};
}

std::string names(const LanguageModelOptions& options) {
  std::string all;
  for (const NamedParameter& parameter : LanguageModel(options).parameters()) {
    if (!parameter.name.starts_with("stack.layers.")) all += parameter.name + " ";
  }
  return all;
}

TEST(LanguageModel, NamesItsParameters) {
  EXPECT_EQ(names(small(true)),
            "embedding.weight positions.weight stack.norm.weight stack.norm.bias ");
  EXPECT_EQ(names(small(false)),
            "embedding.weight positions.weight stack.norm.weight stack.norm.bias head.weight "
            "head.bias ");
  LanguageModelOptions without = small(true);
  without.positions = "none";
  EXPECT_EQ(names(without), "embedding.weight stack.norm.weight stack.norm.bias ");
}

TEST(LanguageModel, GradientsOfItsLossAreThoseOfDifferences) {
  const std::int64_t labels[] = {1, 4, 0, 3, 2, -100};
  for (const bool tied : {true, false}) {
    const LanguageModel model(small(tied));
    fill_parameters(model, 2);
    std::vector<Variable> leaves;
    for (const NamedParameter& parameter : model.parameters()) leaves.push_back(parameter.variable);
    expect_gradients(
        [&] { return cross_entropy(model.forward(View(kIds, {2, 3})), View(labels, {2, 3})); },
        leaves);
  }
}

TEST(LanguageModel, IsCausal) {
  const LanguageModel model(small(true));
  fill_parameters(model, 2);
  const std::int64_t other[] = {3, 1, 2};
  const Tensor a = model.forward(View(kIds, {1, 3})).value();
  const Tensor b = model.forward(View(other, {1, 3})).value();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(a.data<double>()[i], b.data<double>()[i]);
  EXPECT_NE(a.data<double>()[10], b.data<double>()[10]);
}

TEST(LanguageModel, DrawsTablesThenBlocksThenHead) {
  LanguageModel tied(small(true, DType::float32)), apart(small(false, DType::float32));
  const auto first = make_initializer({.seed = 3}), second = make_initializer({.seed = 3});
  tied.initialize(*first);
  apart.initialize(*second);
  const std::vector<NamedParameter> a = tied.parameters(), b = apart.parameters();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].variable.value().data<float>()[0], b[i].variable.value().data<float>()[0]);
  }
  EXPECT_NE(b.back().variable.value().data<float>()[0], 0);
}

TEST(LanguageModel, EndsWhereItsTableOfPositionsEnds) {
  const LanguageModel model(small(true));
  const std::int64_t ids[] = {0, 1, 2, 3, 4};
  model.forward(View(ids, {1, 4}));
  try {
    model.forward(View(ids, {1, 5}));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("[learned positions] position 4 at (4,) is outside the table of 4 rows"));
  }
}

TEST(LanguageModel, RefusesWhatDoesNotFit) {
  const LanguageModel model(small(true));
  EXPECT_THROW(model.forward({}), InvalidArgument);
  const std::int64_t outside[] = {5};
  EXPECT_THROW(model.forward(View(outside, {1, 1})), InvalidArgument);
  LanguageModelOptions options = small(true);
  options.vocabulary = 0;
  EXPECT_THROW(LanguageModel{options}, InvalidArgument);
  options = small(true);
  options.positions = "learned(rows=-1)";
  EXPECT_THROW(LanguageModel{options}, InvalidArgument);
  options.positions = "learned(rows=1125899906842624)";
  EXPECT_THROW(LanguageModel{options}, InvalidArgument);
}

TEST(LearnedPositions, AddTheRowOfEachPosition) {
  LearnedPositions positions(4, 2);
  fill_parameters(positions, 2);
  const Variable x(Tensor::zeros(DType::float32, {2, 3, 2}));
  const float* table = positions.weight().value().data<float>();
  const Tensor counted = positions.forward(x).value();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(counted.data<float>()[i], table[i % 6]);
  const std::int32_t places[] = {3, 0, 3, 1, 1, 2};
  const Tensor placed = positions.forward(x, View(places, {2, 3})).value();
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(placed.data<float>()[i], table[2 * places[i / 2] + i % 2]);
  }
  const std::int32_t beyond[] = {0, 4, 1};
  EXPECT_THROW(positions.forward(x, View(beyond, {3})), InvalidArgument);
  const std::int32_t before[] = {0, -1, 1};
  EXPECT_THROW(positions.forward(x, View(before, {3})), InvalidArgument);
  EXPECT_THROW(LearnedPositions(0, 2), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
