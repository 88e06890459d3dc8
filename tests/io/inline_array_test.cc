#include "sources.h"
#include "volvelle/io/arrays.h"

namespace volvelle {
namespace {

using namespace volvelle::testing;
using ::testing::ElementsAre;

TEST(InlineArray, RowsEndAtSemicolonsNumbersAtBlanksOrCommas) {
  for (const char* text : {"1 0; 1 1", "1,0;1,1", " 1 , 0 ;\n1, 1 ", "1\t0;1  1"}) {
    SCOPED_TRACE(text);
    const Tensor array = parse_inline(text);
    EXPECT_EQ(array.shape(), (Shape{2, 2}));
    EXPECT_EQ(array.dtype(), DType::int64);
    EXPECT_THAT(values_of(array), ElementsAre(1, 0, 1, 1));
  }
  EXPECT_EQ(parse_inline("3").shape(), (Shape{1, 1}));
}

TEST(InlineArray, NumbersWithAPointTakeTheNumberType) {
  EXPECT_EQ(parse_inline("1 0.1").data<float>()[1], 0.1f);
  EXPECT_EQ(parse_inline("1 0.1", {.number_dtype = DType::float64}).data<double>()[1], 0.1);
  EXPECT_EQ(parse_inline("-inf 1").data<float>()[0], -HUGE_VALF);
}

TEST(InlineArray, FaultsNameTheRow) {
  EXPECT_REFUSED(parse_inline(""), InvalidArgument, "row 1 is empty");
  EXPECT_REFUSED(parse_inline("1 0;"), InvalidArgument, "row 2 is empty");
  EXPECT_REFUSED(parse_inline("1 0; ;1 1"), InvalidArgument, "row 2 is empty");
  EXPECT_REFUSED(parse_inline("1 0; 1"), InvalidArgument, "row 2 has 1 numbers, row 1 has 2");
  EXPECT_REFUSED(parse_inline("[1 0]"), InvalidArgument, "row 1: '[1' is not a number");
  EXPECT_REFUSED(parse_inline("1,,0"), InvalidArgument, "row 1: '' is not a number");
  EXPECT_REFUSED(parse_inline("1,"), InvalidArgument, "'' is not a number");
  EXPECT_REFUSED(parse_inline(",1"), InvalidArgument, "'' is not a number");
  EXPECT_REFUSED(parse_inline("1 1e999"), InvalidArgument, "beyond the range of float64");
  EXPECT_REFUSED(parse_inline("1e39 1"), InvalidArgument, "beyond the range of float32");
  EXPECT_REFUSED(parse_inline("1", {.number_dtype = DType::boolean}), InvalidArgument,
                 "number_dtype is bool");
}

}  // namespace
}  // namespace volvelle
