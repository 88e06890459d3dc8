// The order task: twins with the same tokens and the other label.
#include "volvelle/training/order_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const OrderOptions kTask{.fillers = 5, .tokens = 7, .batch = 40, .seed = 3};

std::vector<std::int64_t> row_of(const Tensor& ids, std::int64_t row) {
  const std::int64_t* first = ids.data<std::int64_t>() + row * 7;
  return {first, first + 7};
}

TEST(OrderTask, TheLabelIsTheMarkThatCameFirst) {
  const OrderBatch batch = order_batch(kTask, 0);
  int first_mark_first = 0;
  for (std::int64_t row = 0; row < kTask.batch; ++row) {
    const auto ids = row_of(batch.ids, row), labels = row_of(batch.labels, row);
    const auto mark = std::find_if(ids.begin(), ids.end(), [](auto id) { return id >= 5; });
    ASSERT_EQ(std::count(ids.begin(), ids.end(), 5), 1);
    ASSERT_EQ(std::count(ids.begin(), ids.end(), 6), 1);
    EXPECT_EQ(ids.back(), 7);
    EXPECT_EQ(labels.back(), *mark);
    first_mark_first += *mark == 5 ? 1 : 0;
    EXPECT_EQ(std::count(labels.begin(), labels.end(), -100), 6);
  }
  EXPECT_EQ(first_mark_first, 20) << "half of all, exactly";
}

TEST(OrderTask, TwinsHoldTheSameTokensAndOtherLabels) {
  const OrderBatch batch = order_batch(kTask, 4);
  for (std::int64_t row = 0; row < kTask.batch; row += 2) {
    auto one = row_of(batch.ids, row), twin = row_of(batch.ids, row + 1);
    EXPECT_NE(one, twin);
    std::sort(one.begin(), one.end());
    std::sort(twin.begin(), twin.end());
    EXPECT_EQ(one, twin);
    EXPECT_NE(row_of(batch.labels, row).back(), row_of(batch.labels, row + 1).back());
  }
  EXPECT_EQ(row_of(order_batch(kTask, 4).ids, 0), row_of(batch.ids, 0));
  EXPECT_NE(row_of(order_batch(kTask, 5).ids, 0), row_of(batch.ids, 0));
  EXPECT_EQ(order_vocabulary(kTask), 8);
}

TEST(OrderTask, BadOptionsAreRefused) {
  EXPECT_THAT([] { order_batch({.batch = 3}, 0); },
              ThrowsMessage<InvalidArgument>(HasSubstr("even number")));
  EXPECT_THAT([] { order_batch({.tokens = 2}, 0); },
              ThrowsMessage<InvalidArgument>(HasSubstr("two marks")));
  EXPECT_THAT([] { order_batch({.fillers = 0}, 0); },
              ThrowsMessage<InvalidArgument>(HasSubstr("fillers")));
  EXPECT_THROW(order_batch({}, -1), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
