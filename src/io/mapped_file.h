#pragma once

#include <string>

#include "io/bytes.h"

namespace volvelle {

/// The whole of a file, mapped privately: what is written to the bytes never reaches the file.
/// Throws IoError (missing, not readable, a folder, a pipe or device, mapping refused) and
/// FormatError (empty).
Source map_file(const std::string& path);

}  // namespace volvelle
