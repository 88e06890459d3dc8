// Recall at a distance: statements first, no answer shown, longer sequences begin with shorter.
#include "volvelle/training/distant_recall_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const DistantRecallOptions kTask{.names = 6, .tokens = 100, .batch = 8, .seed = 11};

TEST(DistantRecall, QuestionsAreAnsweredByTheStatementsAtTheBeginning) {
  const DistantRecallBatch batch = distant_recall_batch(kTask, 0);
  int questions = 0;
  std::map<std::int64_t, int> values;
  for (std::int64_t row = 0; row < kTask.batch; ++row) {
    const std::int64_t* ids = batch.ids.data<std::int64_t>() + row * kTask.tokens;
    const std::int64_t* labels = batch.labels.data<std::int64_t>() + row * kTask.tokens;
    std::map<std::int64_t, std::int64_t> value_of;
    for (std::int64_t i = 0; i < kTask.tokens; ++i) {
      if (i < 6) {
        ASSERT_GE(ids[i], 16);
        ASSERT_LT(ids[i], 40);
        value_of[(ids[i] - 16) / 4] = (ids[i] - 16) % 4;
        EXPECT_EQ(labels[i], -100);
      } else if (ids[i] < 16) {
        EXPECT_EQ(labels[i], -100);
      } else {
        ++questions;
        ASSERT_GE(ids[i], 40);
        ASSERT_LT(ids[i], 46) << "values are labels only";
        EXPECT_EQ(labels[i], 46 + value_of.at(ids[i] - 40));
        ++values[labels[i]];
      }
    }
    EXPECT_EQ(value_of.size(), 6u) << "every name is stated once";
  }
  EXPECT_GT(questions, 120);
  EXPECT_LT(questions, 260);
  EXPECT_EQ(values.size(), 4u);
  EXPECT_EQ(distant_recall_vocabulary(kTask), 50);
}

TEST(DistantRecall, LongerSequencesBeginWithShorterOnes) {
  DistantRecallOptions longer = kTask;
  longer.tokens = 150;
  const auto a = distant_recall_batch(kTask, 3), b = distant_recall_batch(longer, 3);
  for (std::int64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(a.ids.data<std::int64_t>()[700 + i], b.ids.data<std::int64_t>()[7 * 150 + i]);
  }
  const auto other = distant_recall_batch(kTask, 4);
  EXPECT_NE(std::vector<std::int64_t>(a.ids.data<std::int64_t>(), a.ids.data<std::int64_t>() + 9),
            std::vector<std::int64_t>(other.ids.data<std::int64_t>(),
                                      other.ids.data<std::int64_t>() + 9));
}

TEST(DistantRecall, BadOptionsAreRefused) {
  EXPECT_THAT([] { distant_recall_batch({.names = 64}, 0); },
              ThrowsMessage<InvalidArgument>(HasSubstr("before the first is asked for")));
  EXPECT_THAT([] { distant_recall_batch({.values = 1}, 0); },
              ThrowsMessage<InvalidArgument>(HasSubstr("nothing to tell apart")));
  EXPECT_THAT([] { distant_recall_batch({.pause = 0}, 0); },
              ThrowsMessage<InvalidArgument>(HasSubstr("pause")));
  EXPECT_THROW(distant_recall_batch({}, -1), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
