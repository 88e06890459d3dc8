#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "volvelle/base/memory_reuse.h"

namespace volvelle {

/// Bytes at a 64-byte boundary that the pointer owns, from the blocks of this thread's ReuseScope
/// if it has one and they are that large; null when they cannot be had.
std::shared_ptr<void> owned_memory(std::size_t bytes);

/// Kept blocks by size.
class MemoryReuse::Blocks {
 public:
  /// Smallest block that is kept.
  static constexpr std::size_t kLeast = 4096;

  /// `bytes` rounded up to the next of sixteen sizes between powers of two; 0: beyond all.
  static std::size_t size_for(std::size_t bytes);

  /// A block of one of these sizes, kept or fresh; null when it cannot be had.
  void* take(std::size_t size);
  void give_back(void* block, std::size_t size) noexcept;
  void close() noexcept;    ///< from now on nothing is kept
  void release() noexcept;  ///< what is kept now

  std::size_t kept() const;
  std::size_t used() const;
  std::size_t peak() const;

 private:
  struct Kept {
    void* block;
    std::uint64_t since;  ///< a count of the blocks that came back
  };

  void* take_kept(std::size_t size);
  void shrink_to(std::size_t kept) noexcept;

  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<Kept>> by_size_;  ///< of each size the newest last
  std::size_t kept_ = 0, used_ = 0, peak_ = 0;
  std::uint64_t came_back_ = 0;
  bool open_ = true;
};

}  // namespace volvelle
