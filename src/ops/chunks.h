#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace volvelle {

/// Elements that one task of element-by-element work takes. A fixed number, so that where vectors
/// end and rests begin does not depend on the number of threads.
inline constexpr std::int64_t kChunk = 1 << 15;

/// Calls body(first, count) for every chunk of `count` elements, on at most `threads` threads.
template <class Body>
void for_each_chunk(std::int64_t count, int threads, Body&& body) {
  parallel_for((count + kChunk - 1) / kChunk, threads, [&](std::int64_t chunk) {
    const std::int64_t first = chunk * kChunk;
    body(first, std::min(kChunk, count - first));
  });
}

}  // namespace volvelle
