#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "volvelle/base/export.h"
#include "volvelle/tensor/dtype.h"
#include "volvelle/tensor/named_array.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// True when the extension of `path` is that of a file of named arrays (.npz, .safetensors) or of
/// JSON, which may be either; false for files of one array (.npy, .csv) and for unknown ones.
VOLVELLE_API bool holds_named_arrays(std::string_view path);

struct ReadOptions {
  /// What numbers of text (JSON, CSV, inline) become; a floating type. Decimal text is read as
  /// double and rounded once to it. An array of integers only (no point, no exponent, all within
  /// 63 bits) comes as int64 and one of true and false as bool, whatever this says: what needs
  /// them floating calls `converted`.
  DType number_dtype = DType::float32;
  /// Longest JSON or CSV text that is read; beyond it the message names the binary formats.
  std::size_t max_text_bytes = std::size_t{256} << 20;
  /// Longest safetensors header, reading: the limit of the format's own library.
  std::size_t max_header_bytes = 100'000'000;
};

/// The arrays of a .npz (stored or deflated members, zip64), .safetensors or .json (one object of
/// name -> number, boolean or nested lists of them) file. The extension says what is expected, the
/// content must agree. Files are mapped: an array whose bytes can serve as they lie is a private
/// view of the mapped file (writing to it never reaches the file), anything else is copied. A file
/// must not shrink while such a view lives.
/// Big-endian and Fortran-ordered arrays are converted to row-major little-endian ones.
/// Limits:  sizes claimed by headers are checked in 64 bits against the file before anything is
///          allocated; a deflated member cannot claim more than 1032 times its compressed size;
///          rank at most 8; JSON holds at most 10,000 arrays.
/// Throws:  IoError (missing, unreadable, a folder), FormatError (anything wrong with the content:
///          not the format it is named, damaged, truncated, an element type this library lacks,
///          ragged lists, duplicate names, null), InvalidArgument (unknown extension, options).
/// Source:  numpy.lib.format (NEP 1), PKWARE APPNOTE 6.3, RFC 1951, the safetensors README,
///          RFC 8259.
VOLVELLE_API NamedArrays read_arrays(const std::string& path, const ReadOptions& options = {});

/// The one array of a .npy, .csv (.tsv, .txt) or .json (a list) file. CSV is rank 2: one row a
/// line; separated by commas, semicolons, tabs or blanks, whichever the first row shows; `#` opens
/// a comment; blank lines are skipped; "nan" and "inf" are numbers.
/// Throws as read_arrays does; a ragged CSV names the line.
VOLVELLE_API Tensor read_array(const std::string& path, const ReadOptions& options = {});

/// A matrix written in one line, rank 2: rows end at `;`, numbers at blanks or a comma: "1 0; 1 1".
/// Throws InvalidArgument naming the row: empty, ragged, or not a number.
VOLVELLE_API Tensor parse_inline(const std::string& text, const ReadOptions& options = {});

struct WriteOptions {
  bool force = false;  ///< replace a file that exists
};

/// Writes a .npz (stored members, zip64 where needed; bfloat16 as float32, which NumPy can read)
/// or a .safetensors file. The file appears whole or not at all: it is written under a temporary
/// name in the same folder, synchronised and renamed. Array data start at multiples of 64 bytes.
/// Throws:  InvalidArgument (unknown extension; a name that is empty, repeated or not UTF-8; an
///          absent array), IoError (the file exists and `force` is not set, the folder is missing
///          or not writable, the disk is full). After a throw an existing file is unchanged and
///          nothing is left behind.
VOLVELLE_API void write_arrays(const std::string& path, const NamedArrays& arrays,
                               const WriteOptions& options = {});

/// Throws what write_arrays would throw for this path now (extension, existing file, folder), so
/// that a long computation need not end in a refusal.
VOLVELLE_API void check_output_path(const std::string& path, const WriteOptions& options = {});

}  // namespace volvelle
