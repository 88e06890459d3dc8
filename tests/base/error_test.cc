#include "volvelle/base/error.h"

#include <gtest/gtest.h>

namespace volvelle {
namespace {

TEST(Error, EveryKindIsAnError) {
  EXPECT_THROW(throw InvalidArgument("x"), Error);
  EXPECT_THROW(throw Unsupported("x"), Error);
  EXPECT_THROW(throw IoError("x"), Error);
  EXPECT_THROW(throw InternalError("x"), Error);
  EXPECT_THROW(throw FormatError("f", 3, "x"), Error);
}

TEST(Error, FormatErrorsNameFileAndByte) {
  const FormatError placed("a.npy", 128, "the header ends early");
  EXPECT_STREQ(placed.what(), "a.npy: at byte 128: the header ends early");
  EXPECT_EQ(placed.file(), "a.npy");
  EXPECT_EQ(placed.offset(), 128);
  EXPECT_STREQ(FormatError("a.npy", -1, "is empty").what(), "a.npy: is empty");
}

}  // namespace
}  // namespace volvelle
