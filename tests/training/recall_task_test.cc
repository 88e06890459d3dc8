// The recall task: what a sequence holds, that it is a function of seed and index, and that only
// its pairs tell the label.
#include "volvelle/training/recall_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const RecallOptions kTask{.keys = 12, .values = 4, .pairs = 8, .batch = 32, .seed = 7};

TEST(Recall, TheQueryIsOneOfThePairsAndItsValueTheLabel) {
  const RecallBatch batch = recall_batch(kTask, 3);
  const auto* ids = batch.ids.data<std::int64_t>();
  const auto* labels = batch.labels.data<std::int64_t>();
  for (std::int64_t row = 0; row < kTask.batch; ++row, ids += 9, labels += 9) {
    std::map<std::int64_t, std::int64_t> value_of;
    std::map<std::int64_t, int> dealt;
    for (int i = 0; i < 8; ++i) {
      ASSERT_LT(ids[i], 48);
      value_of[ids[i] / 4] = ids[i] % 4;
      ++dealt[ids[i] % 4];
      EXPECT_EQ(labels[i], -100);
    }
    EXPECT_EQ(value_of.size(), 8u) << "keys differ";
    for (const auto& [value, count] : dealt) EXPECT_EQ(count, 2) << value;
    ASSERT_GE(ids[8], 48);
    ASSERT_LT(ids[8], recall_vocabulary(kTask));
    ASSERT_TRUE(value_of.contains(ids[8] - 48));
    EXPECT_EQ(labels[8], value_of[ids[8] - 48]);
  }
  EXPECT_DOUBLE_EQ(recall_guess(kTask), std::log(4.0));
}

bool same(const RecallBatch& a, const RecallBatch& b) {
  return std::memcmp(a.ids.raw(), b.ids.raw(), a.ids.bytes()) == 0 &&
         std::memcmp(a.labels.raw(), b.labels.raw(), a.labels.bytes()) == 0;
}

TEST(Recall, ABatchIsAFunctionOfSeedAndIndex) {
  const RecallBatch batch = recall_batch(kTask, 5);
  recall_batch(kTask, 6);
  EXPECT_TRUE(same(batch, recall_batch(kTask, 5)));
  EXPECT_FALSE(same(batch, recall_batch(kTask, 6)));
  RecallOptions other = kTask;
  other.seed = 8;
  EXPECT_FALSE(same(batch, recall_batch(other, 5)));
  other.seed = kTask.seed + (std::uint64_t{1} << 40);
  EXPECT_FALSE(same(batch, recall_batch(other, 5)));
}

TEST(Recall, ALargerBatchBeginsWithTheSmaller) {
  RecallOptions larger = kTask;
  larger.batch = 40;
  const RecallBatch small = recall_batch(kTask, 2), large = recall_batch(larger, 2);
  EXPECT_EQ(std::memcmp(small.ids.raw(), large.ids.raw(), small.ids.bytes()), 0);
}

// Labels that the pair of the queried key names, of 64 batches of 32 rows.
double share_of_right_labels(const RecallOptions& options) {
  std::int64_t right = 0, rows = 0;
  for (std::int64_t index = 0; index < 64; ++index) {
    const RecallBatch batch = recall_batch(options, index);
    const auto* ids = batch.ids.data<std::int64_t>();
    const auto* labels = batch.labels.data<std::int64_t>();
    for (std::int64_t row = 0; row < options.batch; ++row, ids += 9, labels += 9, ++rows) {
      for (int i = 0; i < 8; ++i) {
        if (ids[i] / 4 == ids[8] - 48) right += ids[i] % 4 == labels[8] ? 1 : 0;
      }
    }
  }
  return static_cast<double>(right) / static_cast<double>(rows);
}

TEST(Recall, ShuffledLabelsAreRightAsOftenAsAGuess) {
  EXPECT_EQ(share_of_right_labels(kTask), 1);
  RecallOptions shuffled = kTask;
  shuffled.shuffled = true;
  EXPECT_NEAR(share_of_right_labels(shuffled), 0.25, 0.05);  // 5 standard deviations
}

TEST(Recall, CountsThatMakeNoTaskAreRefused) {
  const auto refused = [](RecallOptions options, const char* text, std::int64_t index = 0) {
    EXPECT_THAT([&] { recall_batch(options, index); },
                ThrowsMessage<InvalidArgument>(HasSubstr(text)));
  };
  refused({.keys = 0}, "keys 0");
  refused({.values = 1}, "single value");
  refused({.pairs = 0}, "pairs 0");
  refused({.keys = 4, .pairs = 5}, "must not exceed keys 4");
  refused({.batch = -1}, "batch -1");
  refused({.batch = std::int64_t{1} << 40}, "must lie between");
  refused({}, "counted from 0", -1);
}

}  // namespace
}  // namespace volvelle
