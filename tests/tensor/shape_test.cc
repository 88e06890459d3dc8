#include "volvelle/tensor/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no throw";
}

TEST(Shape, CountsItsElements) {
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({5, 0, INT64_MAX, INT64_MAX}), 0);
}

TEST(Shape, NegativeAxesAreRefused) {
  EXPECT_THAT(message_of([] { element_count({2, -1}, "mask"); }),
              HasSubstr("mask has a negative axis in (2,-1)"));
}

TEST(Shape, CountsBeyond63BitsAreRefused) {
  EXPECT_THAT(message_of([] { element_count({INT64_MAX, 2}, "q"); }),
              HasSubstr("q (9223372036854775807,2) does not fit 63 bits"));
}

TEST(Shape, MoreThanEightAxesAreRefused) {
  EXPECT_NO_THROW((Shape{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_THAT(message_of([] { Shape{1, 2, 3, 4, 5, 6, 7, 8, 9}; }), HasSubstr("more than 8 axes"));
  EXPECT_THROW(Axes::filled(9, 0), InvalidArgument);
}

TEST(Shape, StridesAreRowMajor) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Strides{});
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Strides{4, 4, 1}));
}

TEST(Shape, PrintsAsNumPyDoes) {
  EXPECT_EQ(to_string(Shape{2, 12, 64, 32}), "(2,12,64,32)");
  EXPECT_EQ(to_string(Shape{5}), "(5,)");
  EXPECT_EQ(to_string(Shape{}), "()");
}

TEST(Shape, EqualMeansSameRankAndLengths) {
  EXPECT_EQ((Shape{1, 2}), (Shape{1, 2}));
  EXPECT_NE((Shape{1, 2}), (Shape{1, 2, 1}));
  EXPECT_NE((Shape{1, 2}), (Shape{1, 3}));
}

}  // namespace
}  // namespace volvelle
