#include "io/npy.h"

#include "io/npy_descr.h"
#include "sources.h"

namespace volvelle {
namespace {

using namespace volvelle::testing;
using ::testing::ElementsAre;

// A .npy file of version 1.0 around a header literal.
std::string npy(const std::string& literal, const std::string& data = "") {
  return "\x93NUMPY" + std::string("\x01\0", 2) +
         little(static_cast<std::uint16_t>(literal.size())) + literal + data;
}

std::string header(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

Tensor parse(const std::string& text) { return parse_npy(source_of(text)); }

TEST(Npy, EveryDtypeOfEitherByteOrderIsRead) {
  const struct {
    const char* file;
    DType dtype;
    double step;
  } rows[] = {
      {"f2", DType::float16, 0.5}, {"f4", DType::float32, 0.5}, {"f8", DType::float64, 0.5},
      {"i1", DType::int8, 1},      {"i2", DType::int16, 1},     {"i4", DType::int32, 1},
      {"i8", DType::int64, 1},     {"u1", DType::uint8, 1},     {"u2", DType::uint16, 1},
      {"u4", DType::uint32, 1},    {"u8", DType::uint64, 1},
  };
  for (const auto& row : rows) {
    for (const std::string order : {"", "_big_endian"}) {
      if (size_of(row.dtype) == 1 && !order.empty()) continue;
      SCOPED_TRACE(row.file + order);
      const Tensor array = parse(golden(row.file + order + ".npy"));
      EXPECT_EQ(array.dtype(), row.dtype);
      EXPECT_EQ(array.shape(), (Shape{2, 3}));
      EXPECT_THAT(values_of(array),
                  ElementsAre(0, row.step, 2 * row.step, 3 * row.step, 4 * row.step, 5 * row.step));
    }
  }
}

TEST(Npy, BooleansAreRead) {
  const Tensor array = parse(golden("b1.npy"));
  EXPECT_EQ(array.dtype(), DType::boolean);
  EXPECT_THAT(values_of(array), ElementsAre(1, 0, 1, 0, 0, 1));
}

TEST(Npy, FortranOrderIsTransposed) {
  const Tensor array = parse(golden("fortran.npy"));
  EXPECT_EQ(array.shape(), (Shape{2, 3, 4}));
  for (int i = 0; i < 24; ++i) EXPECT_EQ(array.data<float>()[i], 0.5f * static_cast<float>(i));
  EXPECT_THAT(values_of(parse(golden("fortran_big_endian.npy"))),
              ElementsAre(0, 0.5, 1, 1.5, 2, 2.5));
}

TEST(Npy, ScalarsEmptyArraysAndLaterVersionsAreRead) {
  EXPECT_EQ(parse(golden("scalar.npy")).rank(), 0);
  EXPECT_THAT(values_of(parse(golden("scalar.npy"))), ElementsAre(2.5));
  EXPECT_EQ(parse(golden("empty.npy")).shape(), (Shape{0, 3}));
  for (const char* name : {"version2.npy", "version3.npy"}) {
    EXPECT_THAT(values_of(parse(golden(name))), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5));
  }
}

TEST(Npy, LiteralsOfOtherWritersAreRead) {
  // Double quotes, another order, no trailing comma, Python 2's long integers, no byte order.
  const std::string literal = "{\"shape\": (2L,), \"descr\": \"|u1\", \"fortran_order\": True}\n";
  EXPECT_THAT(values_of(parse(npy(literal, "\x05\x06"))), ElementsAre(5, 6));
  EXPECT_THAT(values_of(parse(npy(header("=i2", "(1,)"), little<std::int16_t>(-7)))),
              ElementsAre(-7));
}

TEST(Npy, UnsupportedElementTypesNameTheTypeAndTheRemedy) {
  const struct {
    const char* file;
    const char* type;
    const char* remedy;
  } rows[] = {
      {"complex", "'<c8'", "the real and the imaginary part apart"},
      {"string", "'<U1'", "strings"},
      {"bytes", "'|S1'", "strings"},
      {"date", "'<M8[s]'", ".astype('int64')"},
      {"longdouble", "'<f16'", ".astype('float64')"},
      {"object", "'|O'", "pickle"},
      {"bfloat16", "'<V2'", "bfloat16"},
      {"record", "structured", "each field"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.file);
    const std::string text = golden(std::string("refused_") + row.file + ".npy");
    EXPECT_REFUSED(parse(text), FormatError, row.type);
    EXPECT_REFUSED(parse(text), FormatError, row.remedy);
  }
  for (const char* descr : {"", "f4", "<", "<f3", "|f4", "!f4", "<q8", "<i16"}) {
    EXPECT_REFUSED(parse(npy(header(descr, "()"), "1234")), FormatError, "are not read");
  }
  EXPECT_NE(why_unsupported("|a3").find("strings"), std::string::npos);
}

TEST(Npy, TruncationSaysWhatIsMissing) {
  const std::string whole = golden("f4.npy");
  EXPECT_REFUSED(parse(whole.substr(0, 8)), FormatError, "takes 10 bytes and the file has 8");
  EXPECT_REFUSED(parse(golden("version2.npy").substr(0, 11)), FormatError, "takes 12 bytes");
  EXPECT_REFUSED(parse(whole.substr(0, 100)), FormatError, "takes 128 bytes and the file has 100");
  EXPECT_REFUSED(parse(whole.substr(0, whole.size() - 1)), FormatError,
                 "truncated: (2,3) of float32 needs 24 bytes, the file has 23");
}

TEST(Npy, BytesBehindTheArrayAreRefused) {
  EXPECT_REFUSED(parse(golden("f4.npy") + "x"), FormatError, "bytes follow the array");
}

TEST(Npy, SizesThatWrapAreRefusedBeforeAllocation) {
  for (const char* shape : {"(9223372036854775807, 9223372036854775807)",
                            "(4611686018427387904, 4)", "(1099511627776, 1099511627776, 0)"}) {
    EXPECT_REFUSED(parse(npy(header("<f4", shape))), FormatError, "does not fit 63 bits");
  }
  EXPECT_REFUSED(parse(npy(header("<f8", "(1099511627776,)"))), FormatError, "8796093022208");
  EXPECT_REFUSED(parse(npy(header("|u1", "(1,1,1,1,1,1,1,1,1)"), "x")), FormatError,
                 "more than 8 axes");
  for (const char* shape : {"(-1,)", "(9223372036854775808,)", "(x,)", "(1.5,)"}) {
    EXPECT_REFUSED(parse(npy(header("<f4", shape))), FormatError, "");
  }
}

TEST(Npy, DamagedHeadersAreRefused) {
  const struct {
    const char* literal;
    const char* rule;
  } rows[] = {
      {"", "expected '{'"},
      {"{'descr'", "expected ':'"},
      {"{'descr", "has no end"},
      {"{descr: '<f4'}", "expected a quoted text"},
      {"{'descr': 4}", "expected a quoted text"},
      {"{'descr': '<f4'", "expected '}'"},
      {"{'descr': '<f4', 'descr': '<f4'}", "'descr' is unknown or repeated"},
      {"{'fortran_order': True, 'fortran_order': True}", "unknown or repeated"},
      {"{'shape': (), 'shape': ()}", "unknown or repeated"},
      {"{'order': 1}", "'order' is unknown or repeated"},
      {"{'fortran_order': 1}", "must be True or False"},
      {"{'shape': 3}", "expected '('"},
      {"{'shape': (3 3)}", "expected ')'"},
      {"{'descr': '<f4', 'fortran_order': False}", "lacks descr, fortran_order or shape"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (0,)} x", "text after"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.literal);
    EXPECT_REFUSED(parse(npy(row.literal)), FormatError, row.rule);
  }
}

TEST(Npy, UnknownVersionsAndLongHeadersAreRefused) {
  EXPECT_REFUSED(parse(patched(golden("f4.npy"), 6, "\x04")), FormatError, "version 4.0");
  EXPECT_REFUSED(parse(patched(golden("f4.npy"), 7, "\x01")), FormatError, "version 1.1");
  const std::string long_header = "\x93NUMPY" + std::string("\x02\0", 2) +
                                  little<std::uint32_t>(70000) + std::string(70000, ' ');
  EXPECT_REFUSED(parse(long_header), FormatError, "a header of 70000 bytes");
}

TEST(Npy, BooleansOtherThanZeroAndOneAreRefused) {
  EXPECT_REFUSED(parse(npy(header("|b1", "(2,)"), "\x01\x02")), FormatError, "stored as 2");
}

TEST(Npy, HeadersAreThoseOfNumPy) {
  EXPECT_EQ(npy_header_for(DType::float32, {2, 3}), golden("f4.npy").substr(0, 128));
  EXPECT_EQ(npy_header_for(DType::boolean, {2, 3}), golden("b1.npy").substr(0, 128));
  EXPECT_EQ(npy_header_for(DType::uint8, {2, 3}), golden("u1.npy").substr(0, 128));
  EXPECT_EQ(npy_header_for(DType::float32, {}), golden("scalar.npy").substr(0, 128));
  EXPECT_EQ(npy_header_for(DType::float32, {0, 3}), golden("empty.npy").substr(0, 128));
  EXPECT_REFUSED(npy_header_for(DType::bfloat16, {}), InternalError, "please report");
}

TEST(Npy, AlignedElementsOfAnOwnedSourceAreShared) {
  const std::string text = golden("f4.npy");
  std::vector<double> room((text.size() + 7) / 8 + 1);  // aligned to 8
  auto* bytes = reinterpret_cast<std::byte*>(room.data());
  std::memcpy(bytes, text.data(), text.size());
  const std::shared_ptr<void> owner(bytes, [](void*) {});
  EXPECT_EQ(parse_npy({"input", {bytes, text.size()}, owner}).raw(), bytes + 128);
  EXPECT_NE(parse_npy({"input", {bytes, text.size()}}).raw(), bytes + 128);

  std::memmove(bytes + 1, bytes, text.size());
  const Tensor copy = parse_npy({"input", {bytes + 1, text.size()}, owner});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.raw()) % alignof(float), 0u);
  EXPECT_THAT(values_of(copy), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5));
}

}  // namespace
}  // namespace volvelle
