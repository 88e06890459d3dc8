#include "io/message_text.h"
#include "io/number_text.h"
#include "sources.h"

namespace volvelle {
namespace {

TEST(MessageText, ControlBytesAndBadUtf8AreEscaped) {
  EXPECT_EQ(in_quotes("a b"), "'a b'");
  EXPECT_EQ(in_quotes("gr\xc3\xb6\xc3\x9f"), "'gr\xc3\xb6\xc3\x9f'");
  EXPECT_EQ(in_quotes("\x1b[2J\n\x7f"), "'\\x1b[2J\\x0a\\x7f'");
  EXPECT_EQ(in_quotes("\xc2\x9b"), "'\\xc2\\x9b'");  // a C1 control
  EXPECT_EQ(in_quotes("\xff\xc3"), "'\\xff\\xc3'");
}

TEST(MessageText, LongTextIsCut) {
  const std::string text = in_quotes(std::string(1000, 'a'));
  EXPECT_LT(text.size(), 110u);
  EXPECT_TRUE(text.ends_with("...'"));
}

TEST(MessageText, Utf8IsToldFromWhatIsNot) {
  for (const char* good : {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82",
                           "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << in_quotes(good);
  }
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3\x28"}) {
    EXPECT_FALSE(is_utf8(bad)) << in_quotes(bad);
  }
}

TEST(NumberText, IntegersStayIntegers) {
  EXPECT_EQ(std::get<std::int64_t>(read_number("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(std::get<std::int64_t>(read_number("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(std::get<std::int64_t>(read_number("+3")), 3);
  EXPECT_EQ(std::get<std::int64_t>(read_number("007")), 7);
  EXPECT_EQ(std::get<double>(read_number("9223372036854775808")), 0x1p63);
}

TEST(NumberText, OtherNumbersAreDoubles) {
  EXPECT_EQ(std::get<double>(read_number("0.1")), 0.1);
  EXPECT_EQ(std::get<double>(read_number("1e3")), 1000.0);
  EXPECT_EQ(std::get<double>(read_number("+.5")), 0.5);
  EXPECT_EQ(std::get<double>(read_number("1.")), 1.0);
  EXPECT_TRUE(std::signbit(std::get<double>(read_number("-0"))));
  EXPECT_TRUE(std::isnan(std::get<double>(read_number("nan"))));
  EXPECT_EQ(std::get<double>(read_number("-inf")), -HUGE_VAL);
  EXPECT_EQ(std::get<double>(read_number("4.9e-324")), 4.9e-324);
  EXPECT_EQ(std::get<double>(read_number("2.2250738585072011e-308")), 2.2250738585072011e-308);
}

TEST(NumberText, TooSmallIsZeroAndTooLargeIsSaid) {
  for (const char* small : {"1e-400", "0.00001e-99999999999999999999", "1e-9223372036854775808"}) {
    EXPECT_EQ(std::get<double>(read_number(small)), 0.0) << small;
  }
  EXPECT_TRUE(std::signbit(std::get<double>(read_number("-1e-400"))));
  EXPECT_EQ(std::get<double>(read_number("0." + std::string(400, '0') + "1")), 0.0);
  for (const char* large :
       {"1e400", "-1e400", "1e99999999999999999999", "1e9223372036854775807", "0.01e+500"}) {
    EXPECT_TRUE(std::holds_alternative<TooLarge>(read_number(large))) << large;
  }
  EXPECT_TRUE(std::holds_alternative<TooLarge>(read_number(std::string(400, '9') + ".5")));
}

TEST(NumberText, WhatIsNoNumberIsRefused) {
  for (const char* text :
       {"", "x", "1x", "1,5", "--1", "+-1", "+", "-", ".", "e5", "0x10", "1 2", "1e", "in"}) {
    EXPECT_TRUE(std::holds_alternative<NotANumber>(read_number(text))) << text;
  }
}

}  // namespace
}  // namespace volvelle
