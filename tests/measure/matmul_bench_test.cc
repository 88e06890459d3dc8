#include "volvelle/measure/matmul_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/random_array.h"
#include "measure/sampled_products.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/linear.h"

namespace volvelle {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(MatmulBench, TwoOperationsForEachTerm) {
  EXPECT_EQ(matmul_operations({.m = 3, .n = 5, .k = 7}), 2 * 3 * 5 * 7);
}

TEST(MatmulBench, MeasuresACheckedRow) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
    const MatmulFigures row =
        measure_matmul({.dtype = dtype, .m = 9, .n = 33, .k = 21}, {.threads = 1, .seconds = 0});
    EXPECT_EQ(row.shape.n, 33);
    EXPECT_EQ(row.repetitions, 5);
    EXPECT_GT(row.milliseconds, 0);
    EXPECT_GT(row.share_of_peak, 0);
    EXPECT_EQ(row.read_gbs, 0);
    EXPECT_EQ(row.cold_bytes, 0u);
    EXPECT_LT(row.max_error, dtype == DType::float64 ? 1e-13 : 0.1);
  }
}

TEST(MatmulBench, ColdWeightsAreHeldAgainstTheReadBandwidth) {
  const MatmulFigures row = measure_matmul({.m = 1, .n = 64, .k = 50, .cold_weights = true},
                                           {.threads = 1, .seconds = 0, .cold_bytes = 100000});
  EXPECT_GT(row.gigabytes_per_second, 0);
  EXPECT_GT(row.read_gbs, 0);
  EXPECT_GT(row.share_of_bandwidth, 0);
  EXPECT_GE(row.cold_bytes, 100000u);
}

TEST(MatmulBench, LengthsBelowOneThrow) {
  EXPECT_THAT([] { measure_matmul({.m = 0}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("m 0 must be at least 1")));
  EXPECT_THROW(measure_matmul({.n = -1}), InvalidArgument);
  EXPECT_THROW(measure_matmul({.k = 0}), InvalidArgument);
  EXPECT_THROW(measure_matmul({.dtype = DType::int8, .m = 2}), InvalidArgument);
}

TEST(MatmulBench, TheTableHoldsTheGoals) {
  std::size_t cold = 0, half = 0, eight = 0;
  for (const MatmulCase& shape : matmul_cases()) {
    EXPECT_EQ(shape.cold_weights, shape.m == 1);
    cold += shape.cold_weights;
    half += shape.dtype == DType::bfloat16;
    eight += shape.m == 8;
  }
  EXPECT_EQ(matmul_cases().size(), 24u);
  EXPECT_EQ(half, 12u);
  EXPECT_EQ(cold, 2u);
  EXPECT_EQ(eight, 2u);
}

TEST(SampledProducts, AWrongElementIsCaught) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Tensor x = random_array(dtype, {5, 40}, 1);
    const Tensor weights = random_array(dtype, {12, 40}, 2);
    Tensor y(dtype, {5, 12});
    linear(x.view(), PackedWeights(weights.view()), y.mutable_view());
    EXPECT_LT(check_sampled_products(x, weights, y), dtype == DType::float32 ? 1e-5 : 0.1);
    Tensor wide = converted(y.view(), DType::float32);
    wide.data<float>()[59] *= 1.02f;  // the last corner
    const Tensor off = converted(wide.view(), dtype);
    EXPECT_THAT([&] { check_sampled_products(x, weights, off); },
                ThrowsMessage<InternalError>(HasSubstr("at (4,11)")));
  }
}

}  // namespace
}  // namespace volvelle
