#include "volvelle/ops/scale.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/ops/add.h"

namespace volvelle {
namespace {

using testing::normal_input;
using testing::values_of;
using Values = std::vector<double>;

class Scale : public testing::OnEveryInstructionSet {};

TEST_P(Scale, MultipliesByTheFactorAsFloat32HoldsIt) {
  for (const std::int64_t count : {0, 1, 33, 70000}) {
    const Variable x(converted(normal_input({count}, 1).view(), DType::float32));
    const Values from = values_of(x.view()), ours = values_of(scale(x, 0.1).view());
    for (std::size_t i = 0; i < from.size(); ++i) {
      ASSERT_EQ(ours[i], static_cast<float>(from[i]) * 0.1f);
    }
  }
}

TEST_P(Scale, GradientsAreThoseOfDifferences) {
  for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    testing::expect_gradients([](const auto& x) { return scale(x[0], -1.75); },
                              {normal_input({3, 5}, 1)}, {.dtype = dtype});
  }
}

// Written in place, but not where a stream holds the same gradient.
TEST_P(Scale, LeavesTheGradientOfAStreamAlone) {
  const Variable x(converted(normal_input({40}, 1).view(), DType::float32), true);
  const Variable stream = scale(x, 1);
  backward(add(stream, scale(scale(stream, 2), 3)), Tensor(x.value()).view());
  const Values value = values_of(x.view()), ours = values_of(x.grad().view());
  for (std::size_t i = 0; i < value.size(); ++i) ASSERT_FLOAT_EQ(ours[i], 7 * value[i]);
}

TEST_P(Scale, ThreadsDoNotChangeABit) {
  for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    const Variable x(converted(normal_input({100001}, 1).view(), dtype), true);
    std::vector<Tensor> all;
    for (const int threads : {1, 2, 8}) {
      const ThreadScope scope(threads);
      all.push_back(scale(x, 0.3).value());
      EXPECT_EQ(std::memcmp(all[0].raw(), all.back().raw(), all[0].bytes()), 0);
    }
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Sets, Scale);

TEST(BadScale, IsRefused) {
  EXPECT_THROW(scale(Variable(), 2), InvalidArgument);
  EXPECT_THROW(scale(Variable(Tensor(DType::int32, {2})), 2), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
