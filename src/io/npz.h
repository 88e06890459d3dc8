#pragma once

#include "io/bytes.h"
#include "volvelle/io/arrays.h"

namespace volvelle {

struct NpzOptions {
  bool check_crc = true;  ///< off only for fuzzing, which cannot guess checksums
};

/// The arrays of a .npz archive, named by their members less ".npy". Throws FormatError.
NamedArrays parse_npz(const Source& source, const NpzOptions& options = {});

struct NpzLayout {
  /// Sizes and offsets from here on are written as zip64; lower only in tests, which have no 4 GB.
  std::uint64_t zip64_from = 0xFFFFFFFF;
};

/// Writes an archive of stored members, bfloat16 as float32. Throws InvalidArgument for names that
/// a member cannot have, and what the sink throws.
void write_npz(ByteSink& sink, const NamedArrays& arrays, const NpzLayout& layout = {});

}  // namespace volvelle
