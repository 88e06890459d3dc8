#include "io/csv.h"

#include "sources.h"

namespace volvelle {
namespace {

using namespace volvelle::testing;
using ::testing::ElementsAre;

Tensor parse(const std::string& text, const ReadOptions& options = {}) {
  return parse_csv(source_of(text), options);
}

TEST(Csv, EverySeparatorIsFound) {
  for (const char* text : {"1,2.5\n3,4\n", "1;2.5\n3;4", "1\t2.5\n3\t4\n", "1 2.5\n3 4\n",
                           "1, 2.5\r\n3 ,4\r\n", "  1   2.5\n3 \t 4  \n", "1 ;2.5\n3; 4\n\n"}) {
    SCOPED_TRACE(text);
    const Tensor array = parse(text);
    EXPECT_EQ(array.dtype(), DType::float32);
    EXPECT_EQ(array.shape(), (Shape{2, 2}));
    EXPECT_THAT(values_of(array), ElementsAre(1, 2.5, 3, 4));
  }
}

TEST(Csv, CommentsBlankLinesAndByteOrderMarkAreSkipped) {
  EXPECT_THAT(values_of(parse("\xef\xbb\xbf# a; b\n\n1,2 # first\n  \n#\n3,4")),
              ElementsAre(1, 2, 3, 4));
}

TEST(Csv, IntegersAreInt64AndOtherNumbersTheNumberType) {
  EXPECT_EQ(parse("1 9007199254740993").data<std::int64_t>()[1], 9007199254740993);
  const Tensor doubles = parse("1 0.1", {.number_dtype = DType::float64});
  EXPECT_EQ(doubles.data<double>()[1], 0.1);
  EXPECT_EQ(parse("0.1").data<float>()[0], 0.1f);
  EXPECT_EQ(parse("1 0.5", {.number_dtype = DType::bfloat16}).dtype(), DType::bfloat16);
  EXPECT_EQ(parse("5").shape(), (Shape{1, 1}));
}

TEST(Csv, NanAndInfinityAreNumbers) {
  const Tensor array = parse("nan,-inf,1e-400");
  EXPECT_TRUE(std::isnan(array.data<float>()[0]));
  EXPECT_EQ(array.data<float>()[1], -HUGE_VALF);
  EXPECT_EQ(array.data<float>()[2], 0);
}

TEST(Csv, RaggedRowsNameTheirLine) {
  EXPECT_REFUSED(parse("# x\n1,2\n\n3,4\n5\n"), FormatError,
                 "line 5: ragged rows: this one has 1 number, line 2 has 2");
  EXPECT_REFUSED(parse("1 2\n3 4 5\n"), FormatError, "has 3 numbers");
}

TEST(Csv, WhatIsNoNumberNamesItsPlace) {
  EXPECT_REFUSED(parse("1,2\n3,x\n"), FormatError, "line 2: column 2, 'x', is not a number");
  EXPECT_REFUSED(parse("a,b\n1,2\n"), FormatError, "a heading? start it with #");
  EXPECT_REFUSED(parse("1,5;2,5\n"), FormatError, "a decimal comma? write a point");
  EXPECT_REFUSED(parse("1,2\n3 4\n"), FormatError, "first row is separated by ','");
  EXPECT_REFUSED(parse("1\t2\n3 4\n"), FormatError, "first row is separated by '\\t'");
  EXPECT_REFUSED(parse("1,,2\n"), FormatError, "column 2 is empty");
  EXPECT_REFUSED(parse("1,2,\n"), FormatError, "column 3 is empty");
}

TEST(Csv, NumbersBeyondTheRangeNameTheirPlace) {
  EXPECT_REFUSED(parse("1,1e999"), FormatError, "line 1: column 2, '1e999', is beyond");
  EXPECT_REFUSED(parse("1,2\n3,1e39"), FormatError,
                 "row 2, column 2 is beyond the range of float32; read it as float64");
  EXPECT_REFUSED(parse("70000.5", {.number_dtype = DType::float16}), FormatError, "float16");
  EXPECT_REFUSED(parse("3.4e38 1.5", {.number_dtype = DType::bfloat16}), FormatError, "bfloat16");
  EXPECT_EQ(parse("1,1e39", {.number_dtype = DType::float64}).data<double>()[1], 1e39);
  // The largest that still rounds to a finite number.
  EXPECT_EQ(parse("65519.9", {.number_dtype = DType::float16}).data<Float16>()[0].bits, 0x7BFF);
  EXPECT_REFUSED(parse("65520.0", {.number_dtype = DType::float16}), FormatError, "float16");
}

TEST(Csv, TextWithoutNumbersAndTooLongTextAreRefused) {
  EXPECT_REFUSED(parse("# nothing\n\n"), FormatError, "holds no numbers");
  EXPECT_REFUSED(parse("1,2,3", {.max_text_bytes = 4}), FormatError,
                 "CSV of 5 bytes is beyond the limit of 4; use .npy");
  EXPECT_REFUSED(parse("{\"q\": 1}"), FormatError, "JSON text");
}

TEST(Csv, NumberTypeMustBeFloating) {
  EXPECT_REFUSED(parse("1", {.number_dtype = DType::int32}), InvalidArgument,
                 "number_dtype is int32");
}

}  // namespace
}  // namespace volvelle
