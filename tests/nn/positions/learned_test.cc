#include "volvelle/nn/positions/learned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

TEST(LearnedScheme, SaysItsEndAndNeverReadsBeyond) {
  const auto scheme = make_positions("learned(rows=16)", {.width = 8, .heads = 2});
  EXPECT_EQ(scheme->facts().positions, 16);
  EXPECT_EQ(scheme->facts().parameters, 128);  // as the document counts them
  const Variable x(Tensor::zeros(DType::float32, {1, 8}));
  const auto at = [&](std::int64_t position) {
    return refusal([&] { scheme->add_to_tokens(x, View(&position, {1})); });
  };
  EXPECT_EQ(at(15), "(nothing was refused)");
  EXPECT_THAT(at(16), HasSubstr("[learned positions] position 16 at (0,) is outside the table of "
                                "16 rows, which ends at position 15"));
  EXPECT_THAT(at(-1), HasSubstr("position -1 at (0,) is negative"));
}

TEST(LearnedScheme, GradientsReachTheRowsThatWereRead) {
  const auto scheme = make_positions("learned(rows=4)", {.width = 2, .heads = 1});
  const Variable x(Tensor::zeros(DType::float32, {2, 3, 2}));
  const std::int32_t positions[] = {0, 2, 2};
  backward(sum(scheme->add_to_tokens(x, View(positions, {3}))));
  const Tensor grad = scheme->parameters()[0].variable.grad();
  const float wanted[] = {2, 2, 0, 0, 4, 4, 0, 0};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(grad.data<float>()[i], wanted[i]);
}

TEST(LearnedScheme, RefusesTablesThatNoMemoryHolds) {
  EXPECT_THAT(refusal([] { make_positions("learned(rows=1000000000000000)", {}); }),
              HasSubstr("[learned positions]"));
  EXPECT_THAT(refusal([] { make_positions("learned(rows=0)", {}); }),
              HasSubstr("rows=0 must be an integer of 1 or more"));
}

}  // namespace
}  // namespace volvelle
