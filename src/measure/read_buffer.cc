#include "measure/read_buffer.h"

#include <algorithm>
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
  using Clock = std::chrono::steady_clock;
  struct Look {
    double seconds = 0;
    float sum = 0;  // so that nothing is optimised out
  };
  std::vector<Look> looks(static_cast<std::size_t>(blocks));
  parallel_for(blocks, threads, [&](std::int64_t task) {
    const float* block = data_ + (next_ + task) % blocks_ * std::int64_t{kBlock / 4};
    Look& look = looks[static_cast<std::size_t>(task)];
    const Clock::time_point start = Clock::now();
    look.sum = kernels::read_once(block, kBlock / 4);
    look.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  });
  next_ = (next_ + blocks) % blocks_;
  const auto middle = looks.begin() + static_cast<std::ptrdiff_t>(looks.size() / 2);
  std::nth_element(looks.begin(), middle, looks.end(),
                   [](const Look& a, const Look& b) { return a.seconds < b.seconds; });
  const auto readers = static_cast<double>(std::min<std::int64_t>(threads, blocks));
  return readers * static_cast<double>(kBlock) / middle->seconds * 1e-9;
}

}  // namespace volvelle
