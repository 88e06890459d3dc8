#include "io/file_kind.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "io/message_text.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using namespace std::string_view_literals;

struct Signature {
  FileKind kind;
  std::string_view start;
};

constexpr std::array kSignatures{
    Signature{FileKind::npy, "\x93NUMPY"sv},
    Signature{FileKind::zip, "PK\x03\x04"sv},
    Signature{FileKind::zip, "PK\x05\x06"sv},  // an archive without members
    Signature{FileKind::gguf, "GGUF"sv},
    Signature{FileKind::lfs_pointer, "version https://git-lfs"sv},
    Signature{FileKind::gzip, "\x1f\x8b"sv},
    Signature{FileKind::zstd, "\x28\xb5\x2f\xfd"sv},
    Signature{FileKind::xz, "\xfd\x37zXZ\0"sv},
    Signature{FileKind::bzip2, "BZh"sv},
    Signature{FileKind::hdf5, "\x89HDF\r\n\x1a\n"sv},
    Signature{FileKind::parquet, "PAR1"sv},
    Signature{FileKind::png, "\x89PNG\r\n\x1a\n"sv},
    Signature{FileKind::jpeg, "\xff\xd8\xff"sv},
    Signature{FileKind::pdf, "%PDF-"sv},
    Signature{FileKind::elf, "\x7f\x45LF"sv},
    Signature{FileKind::utf16, "\xff\xfe"sv},
    Signature{FileKind::utf16, "\xfe\xff"sv},
};

std::string_view start_of(Bytes bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), count)};
}

// The first bytes of text, with a byte order mark and blanks left out.
std::string_view text_of(Bytes bytes) {
  std::string_view text = start_of(bytes, 256);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text[0]))) text.remove_prefix(1);
  return text;
}

bool looks_like_html(std::string_view text) {
  std::string lower(text.substr(0, 16));
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view start : {"<!doctype html"sv, "<html"sv, "<head"sv, "<?xml"sv}) {
    if (lower.starts_with(start)) return true;
  }
  return false;
}

// Protocols 2 to 5 open with their number; a pickle of protocol 0 or 1 is not recognised.
bool looks_like_pickle(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x80} && bytes[1] >= std::byte{2} &&
         bytes[1] <= std::byte{5};
}

}  // namespace

FileKind kind_of(Bytes bytes) {
  // First, for its length field may begin with any bytes.
  if (bytes.size() >= 10 && bytes[8] == std::byte{'{'} && bytes[6] == std::byte{0} &&
      bytes[7] == std::byte{0}) {
    return FileKind::safetensors;
  }
  const std::string_view start = start_of(bytes, 64);
  for (const Signature& signature : kSignatures) {
    if (start.starts_with(signature.start)) return signature.kind;
  }
  if (looks_like_pickle(bytes)) return FileKind::pickle;
  const std::string_view text = text_of(bytes);
  if (looks_like_html(text)) return FileKind::html;
  if (text.starts_with('{')) return FileKind::json;
  return FileKind::unknown;
}

std::string_view describe(FileKind kind) {
  switch (kind) {
    case FileKind::unknown:
      break;
    case FileKind::npy:
      return "a NumPy array; name it .npy";
    case FileKind::zip:
      return "a zip archive (NumPy's savez writes these as .npz, PyTorch's save as .pt; only .npz "
             "is read)";
    case FileKind::safetensors:
      return "a safetensors file; name it .safetensors";
    case FileKind::json:
      return "JSON text; name it .json";
    case FileKind::pickle:
      return "a Python pickle, which can run code when it is loaded and is never read; save with "
             "numpy.savez or safetensors";
    case FileKind::gguf:
      return "a GGUF model, which is not read; convert it to .safetensors";
    case FileKind::lfs_pointer:
      return "a git-lfs pointer, a text that stands for the real file; fetch that with `git lfs "
             "pull`";
    case FileKind::html:
      return "an HTML or XML page, perhaps an error page that was saved instead of the file; "
             "download it again";
    case FileKind::gzip:
      return "gzip-compressed; unpack it first (gzip -d)";
    case FileKind::zstd:
      return "zstd-compressed; unpack it first (zstd -d)";
    case FileKind::xz:
      return "xz-compressed; unpack it first (xz -d)";
    case FileKind::bzip2:
      return "bzip2-compressed; unpack it first (bzip2 -d)";
    case FileKind::hdf5:
      return "an HDF5 file, which is not read; save with numpy.savez or safetensors";
    case FileKind::parquet:
      return "a Parquet file, which is not read; save with numpy.savez or as CSV";
    case FileKind::png:
      return "a PNG image";
    case FileKind::jpeg:
      return "a JPEG image";
    case FileKind::pdf:
      return "a PDF document";
    case FileKind::elf:
      return "a program (ELF)";
    case FileKind::utf16:
      return "UTF-16 text; save it as UTF-8";
  }
  return "";
}

void throw_mislabelled(const Source& source, std::string_view format, std::string_view expected) {
  const std::string_view what = describe(kind_of(source.bytes));
  std::string problem = "not a " + std::string(format) + " file: ";
  if (!what.empty()) {
    problem += "this is " + std::string(what);
  } else {
    problem += "it starts with " + in_quotes(start_of(source.bytes, 8)) + ", expected " +
               std::string(expected);
  }
  throw FormatError(source.name, 0, problem);
}

void refuse_binary(const Source& source, std::string_view format) {
  const FileKind kind = kind_of(source.bytes);
  if (kind != FileKind::unknown && kind != FileKind::json) throw_mislabelled(source, format, "");
}

}  // namespace volvelle
