#include "base/reused_blocks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/aligned_memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(block, size) ((void)(block), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(block, size) ((void)(block), (void)(size))
#endif

namespace volvelle {
namespace {

thread_local std::shared_ptr<MemoryReuse::Blocks> blocks_of_thread;

void free_kept(void* block, std::size_t size) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(block, size);
  aligned_release(block);
}

}  // namespace

std::shared_ptr<void> owned_memory(std::size_t bytes) {
  const std::size_t size = MemoryReuse::Blocks::size_for(bytes);
  if (!blocks_of_thread || bytes < MemoryReuse::Blocks::kLeast || size == 0) {
    void* const memory = aligned_allocate(bytes);
    return memory == nullptr ? nullptr : std::shared_ptr<void>(memory, aligned_release);
  }
  void* const block = blocks_of_thread->take(size);
  if (block == nullptr) return nullptr;
  return std::shared_ptr<void>(block, [blocks = blocks_of_thread, size](void* mine) noexcept {
    blocks->give_back(mine, size);
  });
}

std::size_t MemoryReuse::Blocks::size_for(std::size_t bytes) {
  if (bytes <= kLeast) return kLeast;
  if (bytes > SIZE_MAX / 2) return 0;
  const std::size_t step = std::bit_floor(bytes - 1) / 16;
  return (bytes + step - 1) / step * step;
}

void* MemoryReuse::Blocks::take_kept(std::size_t size) {
  const auto of_size = by_size_.find(size);
  if (of_size == by_size_.end() || of_size->second.empty()) return nullptr;
  void* const block = of_size->second.back().block;
  of_size->second.pop_back();
  kept_ -= size;
  ASAN_UNPOISON_MEMORY_REGION(block, size);
  return block;
}

void* MemoryReuse::Blocks::take(std::size_t size) {
  const std::lock_guard lock(mutex_);
  void* block = take_kept(size);
  if (block == nullptr) {
    const std::size_t most = std::max(peak_, used_ + size);
    shrink_to(most - (used_ + size));
    block = aligned_allocate(size);
    if (block == nullptr) {  // the system may have room for what is kept
      shrink_to(0);
      block = aligned_allocate(size);
    }
    if (block == nullptr) return nullptr;
  }
  used_ += size;
  peak_ = std::max(peak_, used_);
  return block;
}

void MemoryReuse::Blocks::give_back(void* block, std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= size;
  if (open_) {
    try {
      by_size_[size].push_back({block, came_back_++});
      kept_ += size;
      ASAN_POISON_MEMORY_REGION(block, size);
      return;
    } catch (...) {  // no memory for the list
    }
  }
  aligned_release(block);
}

// The longest unused first.
void MemoryReuse::Blocks::shrink_to(std::size_t kept) noexcept {
  while (kept_ > kept) {
    auto oldest = by_size_.end();
    for (auto of_size = by_size_.begin(); of_size != by_size_.end(); ++of_size) {
      if (of_size->second.empty()) continue;
      if (oldest == by_size_.end() ||
          of_size->second.front().since < oldest->second.front().since) {
        oldest = of_size;
      }
    }
    free_kept(oldest->second.front().block, oldest->first);
    oldest->second.erase(oldest->second.begin());
    kept_ -= oldest->first;
  }
}

void MemoryReuse::Blocks::release() noexcept {
  const std::lock_guard lock(mutex_);
  shrink_to(0);
}

void MemoryReuse::Blocks::close() noexcept {
  const std::lock_guard lock(mutex_);
  open_ = false;
  shrink_to(0);
}

std::size_t MemoryReuse::Blocks::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

std::size_t MemoryReuse::Blocks::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::size_t MemoryReuse::Blocks::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

MemoryReuse::MemoryReuse() : blocks_(std::make_shared<Blocks>()) {}
MemoryReuse::~MemoryReuse() { blocks_->close(); }
void MemoryReuse::release() { blocks_->release(); }
std::size_t MemoryReuse::kept_bytes() const { return blocks_->kept(); }
std::size_t MemoryReuse::used_bytes() const { return blocks_->used(); }
std::size_t MemoryReuse::peak_bytes() const { return blocks_->peak(); }

ReuseScope::ReuseScope(const MemoryReuse& memory)
    : before_(std::exchange(blocks_of_thread, memory.blocks_)) {}
ReuseScope::~ReuseScope() { blocks_of_thread = std::move(before_); }

}  // namespace volvelle
