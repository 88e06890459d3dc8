#include "io/json_arrays.h"

#include "sources.h"

namespace volvelle {
namespace {

using namespace volvelle::testing;
using ::testing::ElementsAre;

NamedArrays parse(const std::string& text, const ReadOptions& options = {}) {
  return parse_json_arrays(source_of(text), options);
}

TEST(Json, NestedListsBecomeArraysInTheOrderOfTheText) {
  const NamedArrays arrays = parse(R"({"q": [[1, 0.5], [1, 1e2]], "k": [[[-1.5]]], "s": 2.5})");
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays[0].name, "q");
  EXPECT_EQ(arrays[0].array.dtype(), DType::float32);
  EXPECT_EQ(arrays[0].array.shape(), (Shape{2, 2}));
  EXPECT_THAT(values_of(arrays[0].array), ElementsAre(1, 0.5, 1, 100));
  EXPECT_EQ(arrays[1].array.shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(arrays[2].array.rank(), 0);
  EXPECT_EQ(parse("{}").size(), 0u);
  EXPECT_EQ(parse("\xef\xbb\xbf {\"a\": 1}").size(), 1u);
}

TEST(Json, IntegersStayExactAndBooleansBool) {
  const NamedArrays arrays =
      parse(R"({"key_lengths": [3, 9007199254740993, -1], "keep": [[true], [false]],
                "large": [18446744073709551615]})");
  EXPECT_EQ(arrays[0].array.data<std::int64_t>()[1], 9007199254740993);
  EXPECT_EQ(arrays[0].array.data<std::int64_t>()[2], -1);
  EXPECT_EQ(arrays[1].array.dtype(), DType::boolean);
  EXPECT_THAT(values_of(arrays[1].array), ElementsAre(1, 0));
  EXPECT_EQ(arrays[2].array.dtype(), DType::float32);  // beyond 63 bits
}

TEST(Json, NumbersTakeTheNumberType) {
  const NamedArrays arrays = parse(R"({"q": [0.1, 1]})", {.number_dtype = DType::float64});
  EXPECT_EQ(arrays[0].array.data<double>()[0], 0.1);
  EXPECT_REFUSED(parse("{}", {.number_dtype = DType::int64}), InvalidArgument, "number_dtype");
}

TEST(Json, EmptyListsHaveShapes) {
  const NamedArrays arrays = parse(R"({"a": [], "b": [[], []], "c": [[[]]]})");
  EXPECT_EQ(arrays[0].array.shape(), (Shape{0}));
  EXPECT_EQ(arrays[1].array.shape(), (Shape{2, 0}));
  EXPECT_EQ(arrays[2].array.shape(), (Shape{1, 1, 0}));
}

TEST(Json, RaggedListsNameTheirPlace) {
  const struct {
    const char* text;
    const char* problem;
  } rows[] = {
      {R"({"q": [[1, 2], [3]]})", "q[1] has 1 entry, those before it have 2"},
      {R"({"q": [[[1], [2]], [[3], [4], [5]]]})", "q[1] has 3 entries"},
      {R"({"q": [[[1], [2]], [[3], [4, 5]]]})", "q[1][1] has 2 entries"},
      {R"({"q": [[1], 2]})", "q[1] is a number where its neighbours are lists"},
      {R"({"q": [1, [2]]})", "q[1] is a list where its neighbours are numbers"},
      {R"({"q": [[], 1]})", "q[1] is a number where its neighbours are lists"},
      {R"({"q": [1, []]})", "q[1] is a list where its neighbours are numbers"},
      {R"({"q": [[], [1]]})", "q[1] has 1 entry, those before it have 0"},
      {R"({"q": [[[]], [5]]})", "q[1][0] is a number where its neighbours are lists"},
  };
  for (const auto& row : rows) EXPECT_REFUSED(parse(row.text), FormatError, row.problem);
}

TEST(Json, OtherThingsThanNumbersNameTheirPlace) {
  const struct {
    const char* text;
    const char* problem;
  } rows[] = {
      {R"({"q": [[1, "x"]]})", "q[0][1] is a text"},
      {R"({"q": [1, {"a": 2}]})", "q[1] is an object"},
      {R"({"q": "x"})", "q is a text"},
      {R"({"q": {"a": 1}})", "q is an object"},
      {R"({"q": [0, null]})", "null at q[1]"},
      {R"({"q": null})", "null at q"},
      {R"({"q": [1, true]})", "q[1] mixes true and false with numbers"},
      {R"({"q": [1.5, true]})", "mixes"},
      {R"({"q": [true, 1]})", "mixes"},
      {R"({"q": [true, 1.5]})", "mixes"},
      {R"([1, 2])", "the text is a list; expected an object of named arrays"},
      {R"(3)", "the text is a number; expected an object"},
      {R"(-3)", "the text is a number; expected an object"},
      {R"(1.5)", "the text is a number; expected an object"},
      {R"("x")", "the text is a text; expected an object"},
      {R"(true)", "the text is true or false; expected an object"},
      {R"(null)", "the text is null; expected an object"},
      {R"({"q": 1, "q": 2})", "the name 'q' is given twice"},
  };
  for (const auto& row : rows) EXPECT_REFUSED(parse(row.text), FormatError, row.problem);
}

TEST(Json, NestingWithoutEndIsBounded) {
  EXPECT_REFUSED(parse("{\"q\": " + std::string(1000000, '[')), FormatError,
                 "q is nested deeper than 8 lists");
  EXPECT_REFUSED(parse(std::string(1000000, '[')), FormatError, "the text is a list");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_REFUSED(parse(objects), FormatError, "a is an object");
  EXPECT_EQ(parse("{\"q\": [[[[[[[[1]]]]]]]]}")[0].array.rank(), 8);
}

TEST(Json, NumbersBeyondTheRangeAreRefused) {
  EXPECT_REFUSED(parse(R"({"q": [1, 1e999]})"), FormatError, "'1e999', which is beyond");
  EXPECT_REFUSED(parse(R"({"q": [[1, 2], [3, 1e39]]})"), FormatError,
                 "q[1][1] is beyond the range of float32; read it as float64");
  EXPECT_REFUSED(parse(R"({"q": 1e39})"), FormatError, "q is beyond the range");
  EXPECT_EQ(parse(R"({"q": 1e39})", {.number_dtype = DType::float64})[0].array.data<double>()[0],
            1e39);
  EXPECT_EQ(parse(R"({"q": 1e-999})")[0].array.data<float>()[0], 0);
}

TEST(Json, BadJsonNamesTheByte) {
  EXPECT_REFUSED(parse(R"({"q": [1, 2)"), FormatError, "at byte 11: the text is not valid JSON");
  EXPECT_REFUSED(parse(R"({"q": [1,]})"), FormatError, "not valid JSON");
  EXPECT_REFUSED(parse(R"({"q": [1]} x)"), FormatError, "not valid JSON");
  EXPECT_REFUSED(parse("{\"q\xff\": [1]}"), FormatError, "not valid JSON");
  EXPECT_REFUSED(parse(" "), FormatError, "not valid JSON");
  EXPECT_REFUSED(parse(R"({"q": [NaN]})"), FormatError, "JSON has neither NaN nor Infinity");
  EXPECT_REFUSED(parse(R"({"q": [Infinity]})"), FormatError, "JSON has neither NaN nor Infinity");
  EXPECT_REFUSED(parse(R"({"q": [-Infinity]})"), FormatError, "JSON has neither NaN nor Infinity");
}

TEST(Json, LongTextAndManyArraysAreBounded) {
  EXPECT_REFUSED(parse(R"({"q": [1]})", {.max_text_bytes = 9}), FormatError,
                 "JSON of 10 bytes is beyond the limit of 9; use .npz");
  std::string text = "{\"a\":1";
  for (int i = 0; i < 10000; ++i) text += ",\"" + std::to_string(i) + "\":1";
  EXPECT_REFUSED(parse(text + "}"), FormatError, "more than 10000 arrays");
}

TEST(Json, OneArrayIsRead) {
  const auto one = [](const std::string& text) { return parse_json_array(source_of(text)); };
  EXPECT_THAT(values_of(one("[[1, 2.5]]")), ElementsAre(1, 2.5));
  EXPECT_EQ(one("[[true]]").dtype(), DType::boolean);
  EXPECT_EQ(one("7").rank(), 0);
  EXPECT_REFUSED(one("{\"q\": [1]}"), FormatError, "the text is an object; expected nested lists");
  EXPECT_REFUSED(one("\"x\""), FormatError, "the text is a text; expected nested lists");
  EXPECT_REFUSED(one("[1, \"x\"]"), FormatError, "the list[1] is a text");
  EXPECT_REFUSED(one("null"), FormatError, "null at the list");
}

}  // namespace
}  // namespace volvelle
