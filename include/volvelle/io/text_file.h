#pragma once

#include <string>
#include <string_view>

#include "volvelle/base/export.h"
#include "volvelle/io/arrays.h"

namespace volvelle {

/// Writes `text` as a file that appears whole or not at all.
/// Throws IoError: the file exists and `force` is not set, the folder is missing or not writable,
/// the disk is full. After a throw an existing file is unchanged and nothing is left behind.
VOLVELLE_API void write_text_file(const std::string& path, std::string_view text,
                                  const WriteOptions& options = {});

/// Throws what write_text_file would throw for this path now, so that a long computation need not
/// end in a refusal.
VOLVELLE_API void check_text_path(const std::string& path, const WriteOptions& options = {});

}  // namespace volvelle
