#include "volvelle/measure/peak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/peak.h"
#include "kernels/simd_choice.h"
#include "measure/read_buffer.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

TEST(Peak, EveryInstructionSetGivesAPositiveRate) {
  for (const std::string& name : simd_targets()) {
    set_simd_target(name);
    EXPECT_GT(fma_peak_gflops(DType::float32, 1, 200), 0.1) << name;
    EXPECT_GT(fma_peak_gflops(DType::float64, 1, 200), 0.05) << name;
  }
  set_simd_target("best");
}

TEST(Peak, CountsTwoOperationsPerLaneAndRound) {
  float f32 = 0;
  double f64 = 0;
  const double narrow = kernels::fma_rounds_f32(10, &f32);
  EXPECT_DOUBLE_EQ(kernels::fma_rounds_f32(20, &f32), 2 * narrow);
  EXPECT_LE(kernels::fma_rounds_f64(10, &f64), narrow);
  EXPECT_GT(f32, 0);  // the sums are used: twelve or so, each on its way to 1
  EXPECT_TRUE(std::isfinite(f64));
}

// The best of many short looks: on a busy machine some of them are not interrupted.
double best_look(DType dtype) {
  double best = 0;
  for (int look = 0; look < 40; ++look) best = std::max(best, fma_peak_gflops(dtype, 1, 50));
  return best;
}

TEST(Peak, HalfTypesCountAsWhatMultipliesThem) {
  EXPECT_GT(fma_peak_gflops(DType::bfloat16, 1, 50), 0.1);
  EXPECT_GT(fma_peak_gflops(DType::float16, 2, 50), 0.1);
  for (const std::string& name : simd_targets()) {
    set_simd_target(name);
    const kernels::PairMultiplier* pairs = kernels::pair_multiplier();
    if (pairs != nullptr) {
      float sum = 0;
      pairs->begin();
      const double once = pairs->rounds(10, &sum);
      EXPECT_DOUBLE_EQ(pairs->rounds(20, &sum), 2 * once) << name;
      pairs->end();
      EXPECT_TRUE(std::isfinite(sum)) << name;
    }
    // 16 times float32's on the matrix unit.
    if (name == "avx3_amx") {
      EXPECT_GT(best_look(DType::bfloat16), 2 * best_look(DType::float32));
    }
  }
  set_simd_target("best");
}

TEST(Peak, ReadBandwidthIsPositive) {
  EXPECT_GT(read_bandwidth_gbs(1, std::size_t{8} << 20), 0.05);
  EXPECT_GT(read_bandwidth_gbs(2, std::size_t{8} << 20), 0.05);
}

TEST(Peak, ReadsEachFloatOnce) {
  alignas(64) static float data[2048];
  float sum = 0;
  for (int i = 0; i < 2048; ++i) sum += data[i] = static_cast<float>(i % 61);
  EXPECT_EQ(kernels::read_once(data, 2048), sum);
  EXPECT_EQ(kernels::read_once(data, 1024) + kernels::read_once(data + 1024, 1024), sum);
}

TEST(Peak, ABufferIsReadRoundAndRound) {
  ReadBuffer buffer(3 * ReadBuffer::kBlock + 5, 2);
  EXPECT_EQ(buffer.blocks(), 3);
  for (const std::int64_t blocks : {1, 3, 7}) {
    EXPECT_GT(buffer.read_gbs(blocks, 1), 0.05);
    EXPECT_GT(buffer.read_gbs(blocks, 2), 0.05);
  }
}

TEST(Peak, BadArgumentsThrow) {
  EXPECT_THROW(fma_peak_gflops(DType::int32, 1), InvalidArgument);
  EXPECT_THROW(fma_peak_gflops(DType::float32, 1, 0), InvalidArgument);
  EXPECT_THROW(fma_peak_gflops(DType::float32, 1, 2e6), InvalidArgument);
  EXPECT_THROW(fma_peak_gflops(DType::float32, 1, std::nan("")), InvalidArgument);
  EXPECT_THROW(fma_peak_gflops(DType::float32, -1), InvalidArgument);
  EXPECT_THROW(read_bandwidth_gbs(-1), InvalidArgument);
  EXPECT_THROW(read_bandwidth_gbs(1, 1000), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
