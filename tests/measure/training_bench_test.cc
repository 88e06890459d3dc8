#include "volvelle/measure/training_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "measure/training_check.h"
#include "measure/training_model.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(TrainingBench, OperationsAreThreeTimesThoseForward) {
  const TrainingShape shape{
      .name = "s", .width = 4, .heads = 2, .layers = 3, .vocabulary = 10, .batch = 2, .tokens = 5};
  const double matrices = 3 * (4 * 4 * 4 + 2 * 4 * 16) + 4 * 10, pairs = 2 * 15;
  EXPECT_EQ(training_operations(shape), 3 * (2 * matrices * 10 + 3 * 2 * 2 * 4 * pairs));
}

TEST(TrainingBench, MeasuresCheckedRows) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "500 billion operations, which other tests of training make in small numbers";
#endif
  for (const DType precision : {DType::float32, DType::bfloat16}) {
    const TrainingFigures row =
        measure_training({.shape = "tiny", .precision = precision}, {.seconds = 0});
    EXPECT_EQ(row.repetitions, 5);
    EXPECT_GT(row.milliseconds, 0);
    EXPECT_NEAR(row.tokens_per_second, 2048e3 / row.milliseconds, 1e-6 * row.tokens_per_second);
    EXPECT_GT(row.share_of_peak, 0);
    EXPECT_NEAR(row.loss, std::log(512), 0.2);
    ASSERT_EQ(row.first_losses.size(), 3u);
    EXPECT_EQ(row.first_losses.front(), row.loss);
    EXPECT_LT(row.first_losses.back(), row.loss) << "the same batch again";
    EXPECT_GT(row.max_error, 0);
    EXPECT_LT(row.max_error, precision == DType::float32 ? 1e-4 : 0.1);
    EXPECT_GT(row.peak_bytes, 4u * 4 * 860'000) << "weights, gradients, two moments";
    EXPECT_LT(row.peak_bytes, 400u << 20);
  }
}

TEST(TrainingBench, FirstWeightsAndTokensAreAFormula) {
  const TrainingModel work(training_shapes().front());
  const std::vector<NamedParameter> parameters = work.model.parameters();
  // RandomNumbers(0) starts with 0xE220A8397B1DCDAF, RandomNumbers(1) with 0x910A2DEC89025CC1.
  const double reach = 0.02 * std::sqrt(3.0);
  EXPECT_EQ(parameters[0].name, "embedding.weight");
  EXPECT_FLOAT_EQ(parameters[0].variable.value().data<float>()[0],
                  static_cast<float>(reach * (2 * 0.8833108082136426 - 1)));
  EXPECT_EQ(parameters[1].name, "positions.weight");
  EXPECT_FLOAT_EQ(parameters[1].variable.value().data<float>()[0],
                  static_cast<float>(reach * (2 * 0.5665615751722809 - 1)));
  const auto* ids = work.ids.data<std::int64_t>();
  const auto* labels = work.labels.data<std::int64_t>();
  for (int t = 0; t + 1 < 128; ++t) EXPECT_EQ(labels[t], ids[t + 1]) << t;
}

TEST(TrainingBench, ALossFarFromTheGuessIsAFault) {
  const TrainingShape& tiny = training_shapes().front();
  check_first_loss(tiny, 6.3);
  EXPECT_THROW(check_first_loss(tiny, 4.0), InternalError);
  EXPECT_THROW(check_first_loss(tiny, std::nan("")), InternalError);
}

TEST(TrainingBench, UnknownNamesAreRefused) {
  EXPECT_THAT([] { measure_training({.shape = "gpt2"}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("did you mean 'gpt2-124m'?")));
  EXPECT_THAT([] { measure_training({.precision = DType::float16}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("training in float16")));
}

TEST(TrainingBench, TheTableHasEveryShapeInBothPrecisions) {
  EXPECT_EQ(training_cases().size(), 2 * training_shapes().size());
  const TrainingShape& largest = training_shapes().back();
  EXPECT_STREQ(largest.name, "gpt2-124m");
  EXPECT_EQ(largest.width, 768);
  EXPECT_EQ(largest.batch * largest.tokens, 1024);
}

}  // namespace
}  // namespace volvelle
