#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

#include "io/bytes.h"

namespace volvelle {

/// Unpacks raw deflate data piece by piece into memory that the caller has sized.
/// Source: RFC 1951, by way of zlib.
class Inflater {
 public:
  /// `name` is shown in messages, `offset` is that of `packed` in the file. Throws IoError when
  /// zlib has no memory.
  Inflater(Bytes packed, std::string name, std::uint64_t offset);
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  /// The next `size` bytes. Throws FormatError when the data is damaged or ends before.
  void read(void* target, std::size_t size);
  /// Throws FormatError unless the data ends here.
  void finish();
  /// CRC-32 of everything read so far.
  std::uint32_t crc() const { return crc_; }

 private:
  // Unpacks up to `size` bytes and returns how many came; fewer only at the end of the data.
  std::size_t some(void* target, std::size_t size);
  [[noreturn]] void fail(const std::string& problem) const;

  z_stream stream_{};
  Bytes rest_;
  std::string name_;
  std::uint64_t start_;
  std::uint64_t packed_size_;
  std::uint32_t crc_ = 0;
  bool ended_ = false;
};

}  // namespace volvelle
