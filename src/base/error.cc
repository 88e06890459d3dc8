#include "volvelle/base/error.h"

namespace volvelle {

FormatError::FormatError(const std::string& file, std::int64_t offset, const std::string& problem)
    : Error(offset < 0 ? file + ": " + problem
                       : file + ": at byte " + std::to_string(offset) + ": " + problem),
      file_(file),
      offset_(offset) {}

}  // namespace volvelle
