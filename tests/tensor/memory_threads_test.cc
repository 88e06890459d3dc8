// One memory, several threads: tensors made on one and let go on another.
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "volvelle/base/memory_reuse.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

TEST(MemoryReuseOfThreads, BlocksGoFromThreadToThread) {
  const MemoryReuse memory;
  std::mutex mutex;
  std::vector<Tensor> handed_over;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const ReuseScope scope(memory);
      for (int i = 0; i < 500; ++i) {
        Tensor mine(DType::uint8, {5000 + 5000 * (i % 3)});
        std::memset(mine.raw(), t, mine.bytes());
        Tensor other;
        {
          const std::lock_guard lock(mutex);
          handed_over.push_back(mine);
          if (handed_over.size() > 6) {
            other = handed_over.front();
            handed_over.erase(handed_over.begin());
          }
        }
        for (std::int64_t at = 0; at < mine.size(); at += 999) {
          ASSERT_EQ(mine.data<unsigned char>()[at], t);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  handed_over.clear();
  EXPECT_EQ(memory.used_bytes(), 0u);
  EXPECT_GT(memory.kept_bytes(), 0u);
  EXPECT_LE(memory.kept_bytes(), memory.peak_bytes());
}

TEST(MemoryReuseOfThreads, AScopeIsOfItsThreadAlone) {
  const MemoryReuse memory;
  const ReuseScope scope(memory);
  std::thread([] { const Tensor elsewhere(DType::uint8, {5000}); }).join();
  EXPECT_EQ(memory.peak_bytes(), 0u);
}

}  // namespace
}  // namespace volvelle
