#pragma once

#include <cstddef>
#include <cstdint>

namespace volvelle {

/// Hands out pieces of one block of memory, each at a 64-byte boundary; with no block it measures.
class Carver {
 public:
  explicit Carver(void* base) : base_(static_cast<std::byte*>(base)) {}

  template <class E>
  E* take(std::int64_t count) {
    std::byte* place = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (static_cast<std::size_t>(count) * sizeof(E) + 63) / 64 * 64;
    return reinterpret_cast<E*>(place);
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

}  // namespace volvelle
