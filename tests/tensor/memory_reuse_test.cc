// Tensors whose memory serves later ones.
#include "volvelle/base/memory_reuse.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random_numbers.h"
#include "base/reused_blocks.h"
#include "volvelle/base/error.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

Tensor bytes(std::int64_t count) { return Tensor(DType::uint8, {count}); }

TEST(MemoryReuse, ALaterTensorOfThatSizeGetsTheSameBytes) {
  const MemoryReuse memory;
  const ReuseScope scope(memory);
  const void* first = bytes(100000).raw();
  EXPECT_GT(memory.kept_bytes(), 99999u);
  const Tensor next = bytes(99000);  // about that size
  EXPECT_EQ(next.raw(), first);
  EXPECT_EQ(memory.kept_bytes(), 0u);
  EXPECT_NE(bytes(100000).raw(), first);
}

TEST(MemoryReuse, SharedBytesAreKeptWhenTheLastTensorGoes) {
  const MemoryReuse memory;
  const ReuseScope scope(memory);
  std::optional<Tensor> one = bytes(10000);
  const Tensor other = one->reshaped({100, 100});
  one.reset();
  EXPECT_EQ(memory.kept_bytes(), 0u);
}

TEST(MemoryReuse, SmallTensorsAndThoseOutsideAScopeAreNotItsConcern) {
  const MemoryReuse memory;
  {
    const Tensor before = bytes(100000);
  }
  {
    const ReuseScope scope(memory);
    {
      const Tensor small = bytes(4095);
    }
    EXPECT_EQ(memory.peak_bytes(), 0u);
    {
      const Tensor least = bytes(4096);
    }
    EXPECT_EQ(memory.kept_bytes(), 4096u);
  }
  {
    const Tensor after = bytes(4096);
  }
  EXPECT_EQ(memory.kept_bytes(), 4096u);
}

TEST(MemoryReuse, TheInnermostScopeCounts) {
  const MemoryReuse outer, inner;
  const ReuseScope scope(outer);
  {
    const ReuseScope other(inner);
    {
      const Tensor here = bytes(5000);
    }
  }
  EXPECT_EQ(outer.peak_bytes(), 0u);
  EXPECT_GE(inner.kept_bytes(), 5000u);
  {
    const Tensor here = bytes(5000);
  }
  EXPECT_GE(outer.kept_bytes(), 5000u);
}

// Whatever sizes come: in use and kept together are never more than the most that was in use.
TEST(MemoryReuse, NeverHoldsMoreThanTheMostThatWasInUse) {
  const MemoryReuse memory;
  const ReuseScope scope(memory);
  RandomNumbers random(1);
  std::vector<Tensor> alive;
  std::size_t most = 0, kept_most = 0;
  for (int i = 0; i < 5000; ++i) {
    if (alive.size() > 20 || (!alive.empty() && random.one_in(2))) {
      std::swap(
          alive[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(alive.size())))],
          alive.back());
      alive.pop_back();
    } else {
      alive.push_back(bytes(1 + random.below(1 << (10 + random.below(10)))));
      std::memset(alive.back().raw(), i, alive.back().bytes());
    }
    std::size_t used = 0;
    for (const Tensor& tensor : alive) {
      if (tensor.bytes() >= 4096) used += MemoryReuse::Blocks::size_for(tensor.bytes());
    }
    most = std::max(most, used);
    ASSERT_EQ(memory.used_bytes(), used);
    ASSERT_EQ(memory.peak_bytes(), most);
    ASSERT_LE(memory.used_bytes() + memory.kept_bytes(), most);
    kept_most = std::max(kept_most, memory.kept_bytes());
  }
  EXPECT_GT(kept_most, most / 2);  // and does keep something
  alive.clear();
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(MemoryReuse, BlocksAreAtMostASixteenthTooLarge) {
  using Blocks = MemoryReuse::Blocks;
  EXPECT_EQ(Blocks::size_for(1), 4096u);
  EXPECT_EQ(Blocks::size_for(4096), 4096u);
  EXPECT_EQ(Blocks::size_for(4097), 4352u);
  EXPECT_EQ(Blocks::size_for(65536), 65536u);
  EXPECT_EQ(Blocks::size_for(SIZE_MAX), 0u);
  for (std::size_t bytes = 4096; bytes < (std::size_t{1} << 50); bytes += bytes / 7) {
    const std::size_t size = Blocks::size_for(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size - bytes, bytes / 16);
    EXPECT_EQ(Blocks::size_for(size), size);
    EXPECT_EQ(size % 64, 0u);
  }
}

TEST(MemoryReuse, TensorsMayOutliveIt) {
  Tensor left;
  {
    const MemoryReuse memory;
    const ReuseScope scope(memory);
    left = bytes(100000);
    {
      const Tensor kept = bytes(200000);
    }
  }
  std::memset(left.raw(), 1, left.bytes());
  left = Tensor();
}

TEST(MemoryReuse, GivesBackWhatItKeepsWhenTold) {
  MemoryReuse memory;
  const ReuseScope scope(memory);
  {
    const Tensor kept = bytes(100000);
  }
  memory.release();
  EXPECT_EQ(memory.kept_bytes(), 0u);
  {
    const Tensor again = bytes(100000);
  }
  EXPECT_GT(memory.kept_bytes(), 0u);
}

TEST(MemoryReuse, WhatCannotBeHadIsAnErrorAsEver) {
  const MemoryReuse memory;
  const ReuseScope scope(memory);
  {
    const Tensor kept = bytes(100000);
  }
  EXPECT_THROW(bytes(std::int64_t{1} << 60), IoError);
  EXPECT_THROW(bytes(INT64_MAX), IoError);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(MemoryReuseDeathTest, KeptMemoryIsUnreadableToTheSanitizer) {
  const MemoryReuse memory;
  const ReuseScope scope(memory);
  const volatile unsigned char* gone = bytes(100000).data<unsigned char>();
  EXPECT_DEATH((void)*gone, "use-after-poison");
}
#endif

}  // namespace
}  // namespace volvelle
