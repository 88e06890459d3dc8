#include <gtest/gtest.h>

#include "volvelle/attention/alibi.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

AttendVariableOptions entered(const PositionScheme& scheme) {
  AttendVariableOptions options;
  scheme.enter(options, {});
  return options;
}

TEST(Alibi, GivesEveryHeadItsSlope) {
  for (const std::int64_t heads : {1, 6, 8, 12}) {
    const auto scheme = make_positions("alibi", {.width = 12 * 8, .heads = heads});
    const Variable slopes = entered(*scheme).slopes;
    ASSERT_EQ(slopes.shape(), (Shape{heads}));
    EXPECT_FALSE(slopes.requires_grad());
    EXPECT_EQ(scheme->parameter_count(), 0);
    const std::vector<double> wanted = alibi_slopes(static_cast<int>(heads));
    for (std::int64_t h = 0; h < heads; ++h) {
      EXPECT_EQ(slopes.value().data<float>()[h],
                static_cast<float>(wanted[static_cast<std::size_t>(h)]));
    }
  }
}

TEST(Alibi, LearnedSlopesAreParametersThatStartAsThePaperSays) {
  const auto scheme =
      make_positions("alibi(learned=yes)", {.width = 8, .heads = 2, .dtype = DType::float64});
  ASSERT_EQ(scheme->parameters().size(), 1U);
  EXPECT_EQ(scheme->parameters()[0].name, "slopes");
  Variable slopes = scheme->parameters()[0].variable;
  EXPECT_TRUE(slopes.requires_grad());
  static_cast<double*>(slopes.change().data())[1] = 3;
  EXPECT_EQ(entered(*scheme).slopes.value().data<double>()[1], 3);
  const auto initializer = make_initializer({});
  scheme->initialize(*initializer);
  EXPECT_EQ(slopes.value().data<double>()[0], 1.0 / 16);
  EXPECT_EQ(slopes.value().data<double>()[1], 1.0 / 256);
}

TEST(Alibi, GradientsReachLearnedSlopesThroughAttention) {
  const auto scheme = make_positions("alibi(learned=yes)", {.width = 4, .heads = 2});
  Tensor values(DType::float32, {3, 4});
  for (int i = 0; i < 12; ++i) values.data<float>()[i] = static_cast<float>(i * i % 7) - 3;
  const Variable x(values);
  AttendVariableOptions options{.heads = 2, .rules = {.causal = true}};
  scheme->enter(options, {});
  backward(sum(attend(x, x, x, options)));
  const Tensor grad = scheme->parameters()[0].variable.grad();
  ASSERT_TRUE(grad);
  EXPECT_NE(grad.data<float>()[0], 0);
  EXPECT_NE(grad.data<float>()[1], 0);
}

}  // namespace
}  // namespace volvelle
