#include "volvelle/attention/buckets.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

std::int64_t two_way(std::int64_t offset) { return bucket_of(offset, Buckets::two_way, 32, 128); }
std::int64_t one_way(std::int64_t offset) { return bucket_of(offset, Buckets::one_way, 32, 128); }

TEST(Buckets, TwoWayValuesOfTheReference) {
  EXPECT_EQ(two_way(0), 0);
  EXPECT_EQ(two_way(-8), 8);
  EXPECT_EQ(two_way(-16), 10);
  EXPECT_EQ(two_way(-64), 14);
  EXPECT_EQ(two_way(-128), 15);
  EXPECT_EQ(two_way(1), 17);
  EXPECT_EQ(two_way(7), 23);
  EXPECT_EQ(two_way(8), 24);
  EXPECT_EQ(two_way(64), 30);
  EXPECT_EQ(two_way(128), 31);
}

TEST(Buckets, OneWayValuesOfTheReference) {
  EXPECT_EQ(one_way(-15), 15);
  EXPECT_EQ(one_way(-16), 16);
  EXPECT_EQ(one_way(-17), 16);
  EXPECT_EQ(one_way(-32), 21);
  EXPECT_EQ(one_way(-64), 26);
  EXPECT_EQ(one_way(-127), 31);
  for (const std::int64_t after : {0, 1, 5, 1000}) EXPECT_EQ(one_way(after), 0);
}

TEST(Buckets, NeverFallWithDistanceAndEndInTheLast) {
  for (const std::int64_t count : {2, 3, 4, 8, 32, 64, 320}) {
    for (const std::int64_t max_distance : {count / 2 + 1, count, 4 * count, std::int64_t{5000}}) {
      std::int64_t last = 0;
      for (std::int64_t distance = 0; distance <= max_distance + 2; ++distance) {
        const std::int64_t bucket = bucket_of(-distance, Buckets::one_way, count, max_distance);
        EXPECT_GE(bucket, last);
        EXPECT_LT(bucket, count);
        last = bucket;
      }
      EXPECT_EQ(last, count - 1);
      EXPECT_EQ(bucket_of(-max_distance, Buckets::one_way, count, max_distance), count - 1);
    }
  }
}

TEST(Buckets, FarthestOffsetsHaveOne) {
  EXPECT_EQ(two_way(INT64_MIN), 15);
  EXPECT_EQ(two_way(INT64_MAX), 31);
  EXPECT_EQ(one_way(INT64_MIN), 31);
}

TEST(Buckets, ImpossibleSettingsAreRefused) {
  EXPECT_THROW(bucket_of(1, Buckets::none, 32, 128), InvalidArgument);
  EXPECT_THROW(bucket_of(1, Buckets::one_way, 1, 128), InvalidArgument);
  EXPECT_THROW(bucket_of(1, Buckets::two_way, 2, 128), InvalidArgument);
  EXPECT_THROW(bucket_of(1, Buckets::two_way, 33, 128), InvalidArgument);
  EXPECT_THROW(bucket_of(1, Buckets::two_way, 32, 8), InvalidArgument);
  EXPECT_THROW(bucket_of(1, Buckets::one_way, 32, 16), InvalidArgument);
  EXPECT_NO_THROW(bucket_of(1, Buckets::one_way, 32, 17));
}

}  // namespace
}  // namespace volvelle
