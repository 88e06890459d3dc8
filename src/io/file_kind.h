#pragma once

#include <string>
#include <string_view>

#include "io/bytes.h"

namespace volvelle {

/// What a file is by its first bytes, whatever it is called.
enum class FileKind : std::uint8_t {
  unknown,
  npy,
  zip,
  safetensors,
  json,
  pickle,
  gguf,
  lfs_pointer,
  html,
  gzip,
  zstd,
  xz,
  bzip2,
  hdf5,
  parquet,
  png,
  jpeg,
  pdf,
  elf,
  utf16,
};

FileKind kind_of(Bytes bytes);

/// What such a file is and what to do about it, to follow "this is ". Empty for unknown.
std::string_view describe(FileKind kind);

/// Throws FormatError: "not a .npy file: this is a zip archive ...", with the first bytes shown
/// where they are not recognised. `expected` is what the format starts with.
[[noreturn]] void throw_mislabelled(const Source& source, std::string_view format,
                                    std::string_view expected);

/// Throws FormatError when the bytes are a known binary kind; for readers of text formats.
void refuse_binary(const Source& source, std::string_view format);

}  // namespace volvelle
