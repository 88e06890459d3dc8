#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace volvelle {

/// Rows cut into tasks of neighbours for the pool. What does not depend on how rows meet needs no
/// more; few elements stay on the calling thread.
class RowTasks {
 public:
  /// `threads` as resolve_threads takes it.
  RowTasks(std::int64_t rows, std::int64_t width, int threads)
      : rows_(rows),
        in_task_(std::max<std::int64_t>(1, kElements / std::max<std::int64_t>(1, width))),
        threads_(resolve_threads(threads)) {
    if (rows * width < 2 * kElements) threads_ = 1;
  }

  /// body(first row, number of rows)
  template <class Body>
  void run(Body&& body) const {
    if (rows_ == 0) return;
    if (threads_ == 1) return body(std::int64_t{0}, rows_);
    parallel_for((rows_ + in_task_ - 1) / in_task_, threads_, [&](std::int64_t task) {
      const std::int64_t first = task * in_task_;
      body(first, std::min(in_task_, rows_ - first));
    });
  }

 private:
  // About 10 us of reading and writing: less does not pay for waking a thread.
  static constexpr std::int64_t kElements = 16384;

  std::int64_t rows_;
  std::int64_t in_task_;
  int threads_;
};

}  // namespace volvelle
