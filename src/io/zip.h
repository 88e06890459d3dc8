#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/bytes.h"

namespace volvelle {

/// One member of a zip archive, as the central directory states it.
struct ZipMember {
  enum class Method : std::uint16_t { stored = 0, deflated = 8 };

  std::string name;
  Method method = Method::stored;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;    ///< after unpacking
  std::uint64_t offset = 0;  ///< of the data in the archive
  Bytes data;                ///< as stored
};

/// The members of an archive, zip64 included, in the order of the central directory. Every range
/// lies inside the archive, no two overlap, and no member claims a size that its bytes cannot
/// unpack to, so all of them together unpack to at most 1032 times the archive.
/// Throws FormatError: not an archive, truncated, split over disks, encrypted, another method.
/// Source: PKWARE APPNOTE 6.3.
std::vector<ZipMember> list_zip(const Source& source);

}  // namespace volvelle
