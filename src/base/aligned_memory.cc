#include "base/aligned_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void* aligned_allocate(std::size_t bytes) noexcept {
  // Whole lines, so that the last vector of a buffer lies within it.
  const std::size_t rounded = bytes == 0 ? kLine : (bytes + kLine - 1) / kLine * kLine;
  if (rounded < bytes) return nullptr;  // it wrapped around
  const bool large = rounded >= kHugePage;
  void* pointer = nullptr;
  if (posix_memalign(&pointer, large ? kHugePage : kLine, rounded) != 0) return nullptr;
  // Weights and long contexts are read from end to end: with small pages, walking page tables
  // costs a third of the bandwidth on a virtual machine. Only pages that lie within the block:
  // no memory is taken that was not asked for. A system without huge pages ignores the advice.
  if (large) madvise(pointer, rounded / kHugePage * kHugePage, MADV_HUGEPAGE);
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
