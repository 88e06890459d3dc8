#include "measure/read_buffer.h"

#include <chrono>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/peak.h"

namespace volvelle {

ReadBuffer::ReadBuffer(std::size_t bytes, int threads)
    : data_(static_cast<float*>(memory_.at_least(bytes))),
      blocks_(static_cast<std::int64_t>(bytes / kBlock)) {
  parallel_for(blocks_, threads, [&](std::int64_t block) {
    std::memset(data_ + block * std::int64_t{kBlock / 4}, 0, kBlock);
  });
}

double ReadBuffer::read_gbs(std::int64_t blocks, int threads) {
  std::vector<float> sums(static_cast<std::size_t>(blocks));
  // The workers may sleep: waking them is no part of reading.
  parallel_for(threads, threads, [](std::int64_t) {});
  const auto start = std::chrono::steady_clock::now();
  parallel_for(blocks, threads, [&](std::int64_t task) {
    const std::int64_t block = (next_ + task) % blocks_;
    sums[static_cast<std::size_t>(task)] =
        kernels::read_once(data_ + block * std::int64_t{kBlock / 4}, kBlock / 4);
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  next_ = (next_ + blocks) % blocks_;
  return static_cast<double>(blocks) * static_cast<double>(kBlock) / taken.count() * 1e-9;
}

}  // namespace volvelle
