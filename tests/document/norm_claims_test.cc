// What part 2 of docs/document.md states of norms in words, as checks that can fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "volvelle/base/torch_generator.h"
#include "volvelle/ops/norms.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTokens = 5;
constexpr std::int64_t kWidth = 8;

Tensor random_batch(std::int64_t rows) {
  Tensor batch(DType::float32, {rows, kTokens, kWidth});
  TorchGenerator(0).normal({batch.data<float>(), static_cast<std::size_t>(batch.size())}, 2, 3);
  return batch;
}

// Layer norm is per token over its features: mean 0, variance 1, whatever else is in the batch.
// Batch norm, over the batch, would give a token another output in another batch.
TEST(NormClaims, ATokensOutputDoesNotChangeWithItsBatch) {
  const Tensor many = random_batch(3);
  Tensor one(DType::float32, {1, kTokens, kWidth});
  std::copy_n(many.data<float>(), one.size(), one.data<float>());
  const Tensor of_many = layer_norm(Variable(many), {}, {}).value();
  const Tensor of_one = layer_norm(Variable(one), {}, {}).value();
  const std::vector<float> in_batch(of_many.data<float>(), of_many.data<float>() + of_one.size());
  const std::vector<float> alone(of_one.data<float>(), of_one.data<float>() + of_one.size());
  EXPECT_EQ(in_batch, alone);

  // The control: normalised over the batch instead, the same tokens come out differently.
  const auto over_batch = [](const Tensor& batch) {
    std::vector<float> values;
    const std::int64_t rows = batch.size() / kWidth;
    double mean = 0;
    for (std::int64_t row = 0; row < rows; ++row) mean += batch.data<float>()[row * kWidth];
    mean /= static_cast<double>(rows);
    for (std::int64_t row = 0; row < kTokens; ++row) {
      values.push_back(batch.data<float>()[row * kWidth] - static_cast<float>(mean));
    }
    return values;
  };
  EXPECT_NE(over_batch(many), over_batch(one));
}

TEST(NormClaims, LayerNormGivesEachTokenMeanZeroAndVarianceOne) {
  const Tensor out = layer_norm(Variable(random_batch(2)), {}, {}).value();
  for (std::int64_t row = 0; row < out.size() / kWidth; ++row) {
    double mean = 0;
    double square = 0;
    for (std::int64_t i = 0; i < kWidth; ++i) {
      const double value = out.data<float>()[row * kWidth + i];
      mean += value / kWidth;
      square += value * value / kWidth;
    }
    EXPECT_NEAR(mean, 0, 1e-6);
    EXPECT_NEAR(square, 1, 1e-4);
  }
}

}  // namespace
}  // namespace volvelle
