#include "base/aligned_memory.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {

void* aligned_allocate(std::size_t bytes) noexcept {
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + 63) / 64 * 64;
  return rounded < bytes ? nullptr : std::aligned_alloc(64, rounded);
}

void aligned_release(void* pointer) noexcept { std::free(pointer); }

void* Workspace::at_least(std::size_t bytes) {
  if (bytes <= capacity_) return data_;
  aligned_release(data_);
  data_ = nullptr;
  capacity_ = 0;
  data_ = aligned_allocate(bytes);
  if (data_ == nullptr) {
    throw IoError("[memory] no room for a workspace of " + std::to_string(bytes) + " bytes");
  }
  capacity_ = bytes;
  return data_;
}

}  // namespace volvelle
