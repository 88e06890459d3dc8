#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <thread>

#include "base/aligned_memory.h"

namespace volvelle {

/// A fixed order for tasks that add to the same sums: the one whose turn it is adds, then passes.
/// Whoever waits must wait for tasks that were handed out before it only.
class Turns {
 public:
  /// `count` sums, whose first turn is 0.
  void open(std::int64_t count, Workspace& workspace) {
    turns_ = static_cast<Turn*>(workspace.at_least(static_cast<std::size_t>(count) * sizeof(Turn)));
    for (std::int64_t i = 0; i < count; ++i) new (turns_ + i) Turn(0);
  }

  void wait_for(std::int64_t sum, std::int64_t turn) const {
    for (int tries = 0; turns_[sum].load(std::memory_order_acquire) < turn; ++tries) {
      if (tries < kSpins) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      } else {
        std::this_thread::yield();  // more threads than processors: let the one before run
      }
    }
  }

  void pass(std::int64_t sum, std::int64_t next_turn) {
    turns_[sum].store(next_turn, std::memory_order_release);
  }

 private:
  using Turn = std::atomic<std::int64_t>;
  static constexpr int kSpins = 4096;
  Turn* turns_ = nullptr;
};

}  // namespace volvelle
