#include "io/safetensors.h"

#include "io/safetensors_dtype.h"
#include "sources.h"

namespace volvelle {
namespace {

using namespace volvelle::testing;
using ::testing::ElementsAre;

// A file around a header text and its data.
std::string file(const std::string& header, const std::string& data = "") {
  return little<std::uint64_t>(header.size()) + header + data;
}

// A header entry of one tensor.
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

// A file whose header holds these entries.
std::string file_of(const std::string& entries, const std::string& data = "") {
  std::string header = "{";
  header.append(entries).append("}");
  return file(header, data);
}

NamedArrays parse(const std::string& text, const ReadOptions& options = {}) {
  return parse_safetensors(source_of(text), options);
}

TEST(Safetensors, EveryDtypeIsRead) {
  const NamedArrays arrays = parse(golden("all.safetensors"));
  EXPECT_EQ(arrays.size(), 15u);
  const struct {
    const char* name;
    DType dtype;
    double step;
  } rows[] = {
      {"F16", DType::float16, 0.5},   {"F32", DType::float32, 0.5}, {"F64", DType::float64, 0.5},
      {"BF16", DType::bfloat16, 0.5}, {"I1", DType::int8, 1},       {"I2", DType::int16, 1},
      {"I4", DType::int32, 1},        {"I8", DType::int64, 1},      {"U1", DType::uint8, 1},
      {"U2", DType::uint16, 1},       {"U4", DType::uint32, 1},     {"U8", DType::uint64, 1},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const Tensor* array = find_array(arrays, row.name);
    ASSERT_NE(array, nullptr);
    EXPECT_EQ(array->dtype(), row.dtype);
    EXPECT_EQ(array->shape(), (Shape{2, 3}));
    EXPECT_THAT(values_of(*array),
                ElementsAre(0, row.step, 2 * row.step, 3 * row.step, 4 * row.step, 5 * row.step));
  }
  EXPECT_THAT(values_of(*find_array(arrays, "BOOL")), ElementsAre(1, 0, 1, 0, 0, 1));
  EXPECT_EQ(find_array(arrays, "scalar")->rank(), 0);
  EXPECT_EQ(find_array(arrays, "empty")->shape(), (Shape{0, 3}));
}

TEST(Safetensors, Bfloat16KeepsItsBits) {
  const std::string text =
      file_of(entry("w", "BF16", "[1]", "[0,2]"), little<std::uint16_t>(0x3FC0));
  EXPECT_EQ(parse(text)[0].array.data<BFloat16>()[0].bits, 0x3FC0);
  EXPECT_THAT(values_of(parse(text)[0].array), ElementsAre(1.5));
}

TEST(Safetensors, MetadataOnlyAndTrailingSpacesAreRead) {
  EXPECT_EQ(parse(golden("metadata_only.safetensors")).size(), 0u);
  EXPECT_EQ(parse(file("{}      ")).size(), 0u);
}

TEST(Safetensors, OrderInTheDataNeedNotBeThatOfTheHeader) {
  const NamedArrays arrays =
      parse(file_of(entry("b", "U8", "[1]", "[1,2]") + "," + entry("none", "U8", "[0]", "[1,1]") +
                        "," + entry("a", "U8", "[1]", "[0,1]"),
                    "\x05\x06"));
  EXPECT_EQ(arrays[0].name, "b");
  EXPECT_THAT(values_of(arrays[0].array), ElementsAre(6));
  EXPECT_THAT(values_of(arrays[2].array), ElementsAre(5));
}

TEST(Safetensors, UnsupportedDtypesNameTheTensor) {
  EXPECT_REFUSED(parse(golden("float8.safetensors")), FormatError,
                 "tensor 'half' has dtype F8_E4M3 (8-bit floats) is not read");
  for (const char* dtype :
       {"F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F6_E2M3", "F6_E3M2", "F4", "C64"}) {
    EXPECT_REFUSED(parse(file_of(entry("w", dtype, "[0]", "[0,0]"))), FormatError,
                   std::string(dtype) + " (");
  }
  EXPECT_REFUSED(parse(file_of(entry("w", "F31", "[0]", "[0,0]"))), FormatError,
                 "tensor 'w' has dtype 'F31' is not a dtype of the format");
}

TEST(Safetensors, TheHeadersLengthIsBounded) {
  const std::string text = file("{}");
  EXPECT_REFUSED(parse(patched(text, 0, little<std::uint64_t>(105000000))), FormatError,
                 "a header of 105000000 bytes is beyond the limit of 100000000");
  EXPECT_REFUSED(parse(text, {.max_header_bytes = 1}), FormatError, "beyond the limit of 1");
  EXPECT_REFUSED(parse(patched(text, 0, little<std::uint64_t>(UINT64_MAX))), FormatError,
                 "beyond the limit");
  EXPECT_REFUSED(parse(patched(text, 0, little<std::uint64_t>(3))), FormatError,
                 "truncated: its header takes 3 bytes, the file has 2");
  EXPECT_REFUSED(parse(text.substr(0, 9)), FormatError, "not a .safetensors file");
}

TEST(Safetensors, TheDataAreCoveredExactlyOnce) {
  const std::string a = entry("a", "U8", "[2]", "[0,2]");
  EXPECT_REFUSED(parse(file_of(a, "xyz")), FormatError, "1 bytes at the end belong to no tensor");
  EXPECT_REFUSED(parse(file_of(a, "x")), FormatError,
                 "tensor 'a' lies at [0, 2], but the file has 1 bytes of data: it is truncated");
  EXPECT_REFUSED(parse(file_of(a + "," + entry("b", "U8", "[1]", "[3,4]"), "wxyz")), FormatError,
                 "1 bytes before tensor 'b' belong to no tensor");
  EXPECT_REFUSED(parse(file_of(a + "," + entry("b", "U8", "[2]", "[1,3]"), "xyz")), FormatError,
                 "tensor 'b' at [1, 3] shares bytes with the one before it");
  EXPECT_REFUSED(parse(file_of(entry("a", "U8", "[2]", "[2,0]"), "xy")), FormatError,
                 "takes 2 bytes, but its data_offsets are [2, 0]");
  EXPECT_REFUSED(parse(file("{}", "x")), FormatError, "belong to no tensor");
}

TEST(Safetensors, SizesMustBeThoseOfTheShape) {
  EXPECT_REFUSED(parse(file_of(entry("a", "F32", "[2]", "[0,2]"), "xy")), FormatError,
                 "tensor 'a', (2,) of float32, takes 8 bytes, but its data_offsets are [0, 2]");
  for (const char* shape : {"[9223372036854775807,9223372036854775807]", "[4611686018427387904,4]",
                            "[0,1099511627776,1099511627776]"}) {
    EXPECT_REFUSED(parse(file_of(entry("a", "F32", shape, "[0,0]"))), FormatError,
                   "does not fit 63 bits");
  }
  EXPECT_REFUSED(parse(file_of(entry("a", "F32", "[9223372036854775808]", "[0,0]"))), FormatError,
                 "an axis beyond 63 bits");
  EXPECT_REFUSED(parse(file_of(entry("a", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), "x")), FormatError,
                 "more than 8 axes");
}

TEST(Safetensors, HeadersOfAnotherFormAreRefused) {
  const struct {
    const char* header;
    const char* problem;
  } rows[] = {
      {R"({"a")", "the header is not valid JSON"},
      {R"({} x)", "the header is not valid JSON"},
      {R"({"a":1})", "a number stands in tensor 'a'; expected an object"},
      {R"({"a":[]})", "a list stands in tensor 'a'; expected an object"},
      {R"({"a":"x"})", "a text stands in tensor 'a'"},
      {R"({"a":null})", "null stands in tensor 'a'"},
      {R"({"a":true})", "true or false stands in tensor 'a'"},
      {R"({"a":{"dtype":{}}})", "an object stands in tensor 'a'; expected a text"},
      {R"({"a":{"dtype":8}})", "expected a text"},
      {R"({"a":{"shape":8}})", "expected a list of counts"},
      {R"({"a":{"shape":[-1]}})", "a negative number stands in tensor 'a'; expected counts"},
      {R"({"a":{"shape":[1.5]}})", "a number with point or exponent"},
      {R"({"a":{"shape":[[1]]}})", "a list stands in tensor 'a'; expected counts"},
      {R"({"a":{"data_offsets":[1]}})", "fewer than two data_offsets"},
      {R"({"a":{"data_offsets":[]}})", "fewer than two data_offsets"},
      {R"({"a":{"data_offsets":[1,2,3]}})", "more than two data_offsets"},
      {R"({"a":{"shape":[1],"shape":[1]}})", "tensor 'a' has shape twice"},
      {R"({"a":{"stride":[1]}})", "unknown key 'stride'"},
      {R"({"a":{}})", "tensor 'a' lacks dtype"},
      {R"({"a":{"dtype":"U8","shape":[]}})", "tensor 'a' lacks data_offsets"},
      {R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", "tensor 'a' lacks shape"},
      {R"({"__metadata__":{"a":1}})", "a number stands in the header's metadata; expected a text"},
      {R"({"__metadata__":{"a":"b","a":"c"}})", "metadata give 'a' twice"},
      {R"({"__metadata__":[]})", "expected an object"},
      {R"({"__metadata__":{},"__metadata__":{}})", "names '__metadata__' twice"},
  };
  for (const auto& row : rows) EXPECT_REFUSED(parse(file(row.header)), FormatError, row.problem);
  const std::string a = entry("a", "U8", "[0]", "[0,0]");
  EXPECT_REFUSED(parse(file_of(a + "," + a)), FormatError, "names 'a' twice");
}

TEST(Safetensors, BooleansOtherThanZeroAndOneAreRefused) {
  EXPECT_REFUSED(parse(file_of(entry("a", "BOOL", "[1]", "[0,1]"), "\x07")), FormatError,
                 "stored as 7");
}

TEST(Safetensors, WhatIsWrittenComesBackAlignedAndMarked) {
  NamedArrays arrays;
  arrays.push_back({"flags", copy_of(View(std::array{true, false, true}.data(), {3}))});
  arrays.push_back({"half", converted(parse_inline("1.5 2.5").view(), DType::bfloat16)});
  arrays.push_back(
      {"wide \"\xc3\xb6\"\n", parse_inline("1.5 2.5", {.number_dtype = DType::float64})});
  arrays.push_back({"empty", Tensor(DType::float32, {0, 3})});
  arrays.push_back({"scalar", Tensor::zeros(DType::int64, {})});
  StringSink sink;
  write_safetensors(sink, arrays);
  const auto length = load<std::uint64_t>(source_of(sink.text).bytes, 0);
  EXPECT_EQ((length + 8) % 64, 0u);
  EXPECT_NE(sink.text.find(R"("__metadata__":{"format":"pt"})"), std::string::npos);

  const NamedArrays back = parse(sink.text);
  ASSERT_EQ(back.size(), arrays.size());
  for (const auto& [name, array] : arrays) {
    const Tensor* read = find_array(back, name);
    ASSERT_NE(read, nullptr) << name;
    EXPECT_EQ(read->dtype(), array.dtype());
    EXPECT_EQ(read->shape(), array.shape());
    EXPECT_EQ(values_of(*read), values_of(array));
  }
}

TEST(Safetensors, TheReservedNameIsRefused) {
  StringSink sink;
  EXPECT_REFUSED(write_safetensors(sink, {{"__metadata__", Tensor(DType::float32, {0})}}),
                 InvalidArgument, "reserved name");
}

TEST(Safetensors, TooLongAHeaderIsNotWritten) {
  StringSink sink;
  const NamedArrays arrays{{std::string(1000, 'a'), Tensor(DType::float32, {0})}};
  EXPECT_REFUSED(write_safetensors(sink, arrays, 1000), InvalidArgument,
                 "beyond the format's limit of 1000");
  EXPECT_EQ(sink.text.size(), 0u);
}

TEST(Safetensors, NamesOfDtypesGoBothWays) {
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_of_safetensors(safetensors_name_of(dtype)), dtype);
  }
}

}  // namespace
}  // namespace volvelle
