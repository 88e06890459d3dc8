#include "io/file_kind.h"

#include "io/csv.h"
#include "io/json_arrays.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "sources.h"

namespace volvelle {
namespace {

using namespace volvelle::testing;
using namespace std::string_literals;

struct Sample {
  std::string bytes;
  FileKind kind;
  const char* said;
};

const Sample kSamples[] = {
    {"\x93NUMPY\x01\0"s, FileKind::npy, "a NumPy array"},
    {"PK\x03\x04..."s, FileKind::zip, "a zip archive"},
    {"PK\x05\x06..."s, FileKind::zip, "a zip archive"},
    {"\x10\0\0\0\0\0\0\0{\"a\":1}"s, FileKind::safetensors, "a safetensors file"},
    {" {\"q\": [1]}"s, FileKind::json, "JSON text"},
    {"\xef\xbb\xbf{}"s, FileKind::json, "JSON text"},
    {"\x80\x04\x95.."s, FileKind::pickle, "a Python pickle"},
    {"GGUF\x03\0\0\0"s, FileKind::gguf, "a GGUF model"},
    {"version https://git-lfs.github.com/spec/v1\noid sha256:0"s, FileKind::lfs_pointer,
     "a git-lfs pointer"},
    {"\n<!DOCTYPE html><html>"s, FileKind::html, "an HTML or XML page"},
    {"<HTML><body>"s, FileKind::html, "an HTML or XML page"},
    {"\x1f\x8b\x08"s, FileKind::gzip, "gzip-compressed"},
    {"\x28\xb5\x2f\xfd"s, FileKind::zstd, "zstd-compressed"},
    {"\xfd\x37zXZ\0"s, FileKind::xz, "xz-compressed"},
    {"BZh9"s, FileKind::bzip2, "bzip2-compressed"},
    {"\x89HDF\r\n\x1a\n"s, FileKind::hdf5, "an HDF5 file"},
    {"PAR1"s, FileKind::parquet, "a Parquet file"},
    {"\x89PNG\r\n\x1a\n"s, FileKind::png, "a PNG image"},
    {"\xff\xd8\xff\xe0"s, FileKind::jpeg, "a JPEG image"},
    {"%PDF-1.7"s, FileKind::pdf, "a PDF document"},
    {"\x7f\x45LF"s, FileKind::elf, "a program"},
    {"\xff\xfe\x31\0"s, FileKind::utf16, "UTF-16 text"},
    {"\xfe\xff\0\x31"s, FileKind::utf16, "UTF-16 text"},
};

TEST(FileKind, IsKnownByFirstBytes) {
  for (const Sample& sample : kSamples) {
    EXPECT_EQ(kind_of(source_of(sample.bytes).bytes), sample.kind) << sample.said;
  }
  for (const std::string& text : {""s, "\x80"s, "1,2"s, "PK"s}) {
    EXPECT_EQ(kind_of(source_of(text).bytes), FileKind::unknown);
  }
  EXPECT_EQ(describe(FileKind::unknown), "");
}

TEST(FileKind, MislabelledFilesAreCalledWhatTheyAre) {
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(sample.said);
    const Source source = source_of(sample.bytes);
    if (sample.kind != FileKind::npy) {
      EXPECT_REFUSED(parse_npy(source), FormatError, sample.said);
    }
    if (sample.kind != FileKind::zip) {
      EXPECT_REFUSED(parse_npz(source), FormatError, sample.said);
    }
    if (sample.kind != FileKind::safetensors) {
      EXPECT_REFUSED(parse_safetensors(source), FormatError, sample.said);
    }
    if (sample.kind != FileKind::json) {
      EXPECT_REFUSED(parse_json_arrays(source), FormatError, sample.said);
    }
    EXPECT_REFUSED(parse_csv(source), FormatError, sample.said);
  }
}

TEST(FileKind, UnknownBytesAreShownEscaped) {
  const std::string text = "\x1b[31mhello";
  EXPECT_REFUSED(parse_npy(source_of(text)), FormatError,
                 "not a .npy file: it starts with '\\x1b[31mhel', expected '\\x93NUMPY'");
  EXPECT_REFUSED(parse_npz(source_of(text)), FormatError, "expected 'PK");
  EXPECT_REFUSED(parse_safetensors(source_of(text)), FormatError, "a header's length");
}

}  // namespace
}  // namespace volvelle
