#include "io/npz.h"

#include <zlib.h>

#include "io/zip.h"
#include "sources.h"

namespace volvelle {
namespace {

using namespace volvelle::testing;
using ::testing::ElementsAre;

NamedArrays parse(const std::string& text) { return parse_npz(source_of(text)); }

std::string written(const NamedArrays& arrays, const NpzLayout& layout = {}) {
  StringSink sink;
  write_npz(sink, arrays, layout);
  return sink.text;
}

std::string one_array() { return written({{"a", parse_inline("1.5 2.5")}}); }

// Where the last record with this signature starts.
std::size_t last(const std::string& text, const std::string& signature) {
  return text.rfind("PK" + signature);
}
std::size_t entry_of(const std::string& text) { return last(text, "\x01\x02"); }
std::size_t end_of(const std::string& text) { return last(text, "\x05\x06"); }

// An archive with one deflated member.
std::string deflated(const std::string& content, std::uint32_t size,
                     const std::string& behind = "") {
  std::string packed(compressBound(content.size()) + 100, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  packed += behind;
  const auto crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  const std::string facts = little(crc) + little(static_cast<std::uint32_t>(packed.size())) +
                            little(size) + little<std::uint16_t>(5);
  const std::string zeros(16, '\0');
  const std::string method = std::string("\x08\0", 2) + zeros.substr(0, 4);
  const std::string local = std::string("PK\x03\x04\x14\0\0\0", 8) + method + facts +
                            zeros.substr(0, 2) + "a.npy" + packed;
  const std::string central = std::string("PK\x01\x02\x14\0\x14\0\0\0", 10) + method + facts +
                              zeros.substr(0, 16) + "a.npy";
  return local + central + std::string("PK\x05\x06\0\0\0\0\x01\0\x01\0", 12) +
         little(static_cast<std::uint32_t>(central.size())) +
         little(static_cast<std::uint32_t>(local.size())) + zeros.substr(0, 2);
}

TEST(Npz, WhatNumPyWritesIsReadStoredAndDeflated) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    SCOPED_TRACE(name);
    const NamedArrays arrays = parse(golden(name));
    ASSERT_EQ(arrays.size(), 9u);
    EXPECT_EQ(arrays[0].name, "q");
    EXPECT_EQ(arrays[0].array.shape(), (Shape{2, 3, 4}));
    for (int i = 0; i < 24; ++i) EXPECT_EQ(values_of(arrays[0].array)[i], 0.5 * i);
    EXPECT_EQ(find_array(arrays, "lengths")->dtype(), DType::int64);
    EXPECT_THAT(values_of(*find_array(arrays, "lengths")), ElementsAre(3, 5));
    EXPECT_EQ(find_array(arrays, "keep")->dtype(), DType::boolean);
    for (const char* other : {"fortran", "big", "both",
                              "gr\xc3\xb6\xc3\x9f"
                              "e"}) {
      ASSERT_NE(find_array(arrays, other), nullptr) << other;
      EXPECT_THAT(values_of(*find_array(arrays, other)), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5));
    }
    EXPECT_EQ(find_array(arrays, "scalar")->rank(), 0);
    EXPECT_EQ(find_array(arrays, "empty")->shape(), (Shape{0, 3}));
    EXPECT_EQ(find_array(arrays, "absent"), nullptr);
  }
  EXPECT_EQ(parse(golden("none.npz")).size(), 0u);
}

TEST(Npz, MembersWithoutExtensionAndStreamedArchivesAreRead) {
  for (const char* name : {"bare_name.npz", "streamed.npz"}) {
    SCOPED_TRACE(name);
    const NamedArrays arrays = parse(golden(name));
    ASSERT_EQ(arrays.size(), 1u);
    EXPECT_EQ(arrays[0].name, "q");
    EXPECT_THAT(values_of(arrays[0].array), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5));
  }
}

TEST(Npz, WhatIsWrittenComesBackAndDataIsAligned) {
  NamedArrays arrays;
  for (std::size_t length : {1u, 2u, 3u, 29u, 30u, 33u, 34u, 60u}) {
    arrays.push_back({std::string(length, 'n'), parse_inline("1.5 2.5; 3 4")});
  }
  arrays.push_back(
      {"gr\xc3\xb6\xc3\x9f"
       "e",
       parse_inline("1 2")});
  arrays.push_back({"empty", Tensor(DType::float64, {0})});
  for (const NpzLayout& layout :
       {NpzLayout{}, NpzLayout{.zip64_from = 0}, NpzLayout{.zip64_from = 300}}) {
    const std::string text = written(arrays, layout);
    for (const ZipMember& member : list_zip(source_of(text))) EXPECT_EQ(member.offset % 64, 0u);
    const NamedArrays back = parse(text);
    ASSERT_EQ(back.size(), arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ(back[i].name, arrays[i].name);
      EXPECT_EQ(back[i].array.dtype(), arrays[i].array.dtype());
      EXPECT_EQ(back[i].array.shape(), arrays[i].array.shape());
      EXPECT_EQ(values_of(back[i].array), values_of(arrays[i].array));
    }
  }
}

TEST(Npz, Bfloat16IsWrittenAsFloat32) {
  const NamedArrays arrays{{"a", converted(parse_inline("1.5").view(), DType::bfloat16)}};
  const NamedArrays back = parse(written(arrays));
  EXPECT_EQ(back[0].array.dtype(), DType::float32);
  EXPECT_THAT(values_of(back[0].array), ElementsAre(1.5));
}

TEST(Npz, ManyMembersTakeZip64) {
  NamedArrays arrays;
  for (int i = 0; i < 65536; ++i) arrays.push_back({std::to_string(i), Tensor(DType::int8, {0})});
  const std::string text = written(arrays);
  EXPECT_NE(last(text, "\x06\x06"), std::string::npos);
  EXPECT_EQ(parse(text).size(), 65536u);
}

TEST(Npz, NamesAMemberCannotHaveAreRefused) {
  EXPECT_REFUSED(written({{std::string(40000, 'a'), Tensor(DType::int8, {0})}}), InvalidArgument,
                 "too long for .npz");
}

TEST(Npz, DamageIsFoundByTheChecksum) {
  const std::string text = one_array();
  const std::size_t data = list_zip(source_of(text))[0].offset;
  EXPECT_REFUSED(parse(patched(text, data + 130, "x")), FormatError, "checksum (CRC-32)");
  const std::string packed = golden("deflated.npz");
  const std::size_t first_entry = packed.find("PK\x01\x02");
  EXPECT_REFUSED(parse(patched(packed, first_entry + 16, "xxxx")), FormatError,
                 "input: member 'q.npy': at byte");
}

TEST(Npz, TruncatedArchivesAreRefused) {
  const std::string text = one_array();
  for (std::size_t size = 4; size < text.size(); ++size) {
    EXPECT_REFUSED(parse(text.substr(0, size)), FormatError, "truncated");
  }
  EXPECT_REFUSED(parse(text + "x"), FormatError, "end record is missing");
}

TEST(Npz, DirectoriesThatLieAreRefused) {
  const std::string text = one_array();
  const std::size_t entry = entry_of(text), end = end_of(text);
  const auto u16 = [](std::uint16_t value) { return little(value); };
  const auto u32 = [](std::uint32_t value) { return little(value); };
  const struct {
    std::size_t offset;
    std::string by;
    const char* problem;
  } rows[] = {
      {end + 4, u16(1), "split over several files"},
      {end + 6, u16(1), "split over several files"},
      {end + 8, u16(2), "split over several files"},
      {end + 8, u16(2) + u16(2), "lies outside the file"},
      {end + 12, u32(0x7FFFFFFF), "lies outside the file"},
      {end + 16, u32(0x7FFFFFFF), "lies outside the file"},
      {end + 16, u32(0), "central directory is damaged"},
      {entry, "XX", "central directory is damaged"},
      {entry + 28, u16(0xFFFF), "central directory is damaged"},
      {entry + 8, u16(1), "is encrypted"},
      {entry + 10, u16(99), "packed by method 99"},
      {entry + 20, u32(7), "claims"},
      {entry + 24, u32(7), "claims"},
      {entry + 20, u32(0x7FFFFFFF) + u32(0x7FFFFFFF), "reaches beyond the end"},
      {entry + 42, u32(1), "not where the central directory says"},
      {entry + 42, u32(0x7FFFFFFF), "not where the central directory says"},
      {0 + 28, u16(0xFFFF), "reaches beyond the end"},
  };
  for (const auto& row : rows) {
    EXPECT_REFUSED(parse(patched(text, row.offset, row.by)), FormatError, row.problem);
  }
}

TEST(Npz, Zip64RecordsThatLieAreRefused) {
  const std::string text = written({{"a", parse_inline("1.5 2.5")}}, {.zip64_from = 0});
  const std::size_t entry = entry_of(text), end64 = last(text, "\x06\x06");
  const std::size_t locator = last(text, "\x06\x07");
  const auto u64 = [](std::uint64_t value) { return little(value); };
  const struct {
    std::size_t offset;
    std::string by;
    const char* problem;
  } rows[] = {
      {locator + 8, u64(UINT64_MAX), "not where its locator says"},
      {locator + 8, u64(0), "not where its locator says"},
      {end64 + 16, little<std::uint32_t>(1), "split over several files"},
      {end64 + 32, u64(UINT64_MAX), "lies outside the file"},
      {end64 + 40, u64(UINT64_MAX), "lies outside the file"},
      {end64 + 48, u64(UINT64_MAX), "lies outside the file"},
      {entry + 46 + 5 + 2, little<std::uint16_t>(8), "zip64 field that is too short"},
      {entry + 46 + 5 + 2, little<std::uint16_t>(900), "not where the central directory says"},
      {entry + 46 + 5, little<std::uint16_t>(9), "not where the central directory says"},
      {entry + 46 + 5 + 4, u64(UINT64_MAX), "which its method cannot do"},
      {entry + 46 + 5 + 12, u64(UINT64_MAX), "reaches beyond the end"},
      {entry + 46 + 5 + 20, u64(UINT64_MAX), "not where the central directory says"},
  };
  for (const auto& row : rows) {
    EXPECT_REFUSED(parse(patched(text, row.offset, row.by)), FormatError, row.problem);
  }
}

TEST(Npz, MembersMayNotShareBytes) {
  // The second entry is made to point at the first member: the trick of archives that unpack to
  // far more than they could hold.
  const std::string text = written({{"a", parse_inline("1.5")}, {"b", parse_inline("1.5")}});
  EXPECT_REFUSED(parse(patched(text, entry_of(text) + 42, little<std::uint32_t>(0))), FormatError,
                 "two members share bytes");
}

TEST(Npz, NamesMustBeUniqueAndUtf8) {
  std::string text = written({{"a", parse_inline("1.5")}, {"b", parse_inline("1.5")}});
  text[text.rfind("b.npy")] = 'a';
  EXPECT_REFUSED(parse(text), FormatError, "two members are called 'a'");
  text[text.rfind("a.npy")] = '\xff';
  EXPECT_REFUSED(parse(text), FormatError, "'\\xff' is not UTF-8");
}

TEST(Npz, OtherArchivesSayWhatTheyAre) {
  EXPECT_REFUSED(parse(golden("torch.npz")), FormatError, "PyTorch checkpoint");
  EXPECT_REFUSED(parse(golden("bzip2.npz")), FormatError, "packed by method 12");
  EXPECT_REFUSED(parse(deflated("hello, world", 12)), FormatError,
                 "input: member 'a.npy': at byte 0: not a .npy file: it starts with 'hello, w'");
}

TEST(Npz, PackedDataMustUnpackToExactlyWhatIsStated) {
  const std::string npy = golden("f4.npy");
  const auto size = static_cast<std::uint32_t>(npy.size());
  EXPECT_THAT(values_of(parse(deflated(npy, size))[0].array), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5));
  EXPECT_REFUSED(parse(deflated(npy, size, "x")), FormatError, "bytes follow the end");
  EXPECT_REFUSED(parse(deflated(npy.substr(0, size - 3), size)), FormatError,
                 "ends 3 bytes before the stated size");
  EXPECT_REFUSED(parse(deflated(npy + "x", size)), FormatError, "goes on beyond the stated size");
  EXPECT_REFUSED(parse(deflated(npy, size + 1)), FormatError, "bytes follow the array");

  std::string text = deflated(npy, size);
  const std::uint64_t start = list_zip(source_of(text))[0].offset;
  EXPECT_REFUSED(parse(patched(text, start, "\xff\xff")), FormatError, "damaged");
  const auto packed = static_cast<std::uint32_t>(list_zip(source_of(text))[0].data.size());
  text = patched(text, entry_of(text) + 20, little(packed - 5));
  EXPECT_REFUSED(parse(text), FormatError, "truncated");
}

TEST(Npz, AClaimBeyondDeflateIsRefusedBeforeAllocation) {
  const std::string text = deflated(golden("f4.npy"), 0x7FFFFFFF);
  EXPECT_REFUSED(parse(text), FormatError, "claims 2147483647 bytes unpacked from");
}

TEST(Npz, ZerosUnpackAtDeflatesBestRatio) {
  const std::string npy = "\x93NUMPY" + std::string("\x01\0\x3b\0", 4) +
                          "{'descr':'|u1','fortran_order':False,'shape':(10000000,),} " +
                          std::string(10000000, '\0');
  EXPECT_EQ(parse(deflated(npy, static_cast<std::uint32_t>(npy.size())))[0].array.size(), 10000000);
}

TEST(Npz, BooleansOtherThanZeroAndOneAreRefusedWhenDeflated) {
  const std::string npy = patched(golden("b1.npy"), 129, "\x03");
  EXPECT_REFUSED(parse(deflated(npy, static_cast<std::uint32_t>(npy.size()))), FormatError,
                 "stored as 3");
}

}  // namespace
}  // namespace volvelle
