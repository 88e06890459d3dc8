#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

namespace volvelle {

static_assert(std::endian::native == std::endian::little,
              "the file readers take bytes of little-endian formats as they lie");

using Bytes = std::span<const std::byte>;

/// What every parser reads: bytes with the name that messages show. With an `owner` (a mapped
/// file) tensors may share the bytes; without one they copy.
struct Source {
  std::string name;
  Bytes bytes;
  std::shared_ptr<void> owner = {};
};

/// The little-endian number at `offset`; the caller has checked that it lies inside.
template <class T>
T load(Bytes bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// Receives the bytes of a file being written, in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(const void* data, std::size_t size) = 0;
};

}  // namespace volvelle
