#include "base/aligned_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
// From here on, rounding up to whole huge pages costs a quarter at most.
constexpr std::size_t kLarge = 4 * kHugePage;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;  // wraps around to less than `bytes` near the end
}

}  // namespace

void* aligned_allocate(std::size_t bytes) noexcept {
  const bool large = bytes >= kLarge;
  const std::size_t rounded =
      rounded_up(bytes == 0 ? 1 : bytes, large ? kHugePage : std::size_t{64});
  if (rounded < bytes) return nullptr;
  void* pointer = std::aligned_alloc(large ? kHugePage : std::size_t{64}, rounded);
  // Weights and long contexts are read from end to end: with small pages, walking page tables
  // costs up to 7% of a product. A system that has no huge pages ignores the advice.
  if (large && pointer != nullptr) madvise(pointer, rounded, MADV_HUGEPAGE);
  return pointer;
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
