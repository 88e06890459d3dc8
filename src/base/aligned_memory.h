#pragma once

#include <cstddef>

namespace volvelle {

/// Bytes at a 64-byte boundary, or nullptr when they cannot be had. `bytes` 0 is legal.
void* aligned_allocate(std::size_t bytes) noexcept;
void aligned_release(void* pointer) noexcept;

/// Memory that grows and is kept: one per thread serves every call that the thread makes.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { aligned_release(data_); }

  /// At least `bytes` bytes at a 64-byte boundary, valid until the next call. What was there
  /// before is lost. Throws IoError, naming the size, when the memory cannot be had.
  void* at_least(std::size_t bytes);

 private:
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace volvelle
