#include "base/aligned_memory.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

TEST(AlignedMemory, StartsAtSixtyFourBytes) {
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 4097}) {
    void* memory = aligned_allocate(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    aligned_release(memory);
  }
  EXPECT_EQ(aligned_allocate(SIZE_MAX - 5), nullptr);
}

// Large blocks start at a huge page, and all of what was asked for is theirs.
TEST(AlignedMemory, LargeBlocksStartAtHugePages) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  for (const std::size_t bytes : {kHugePage, 2 * kHugePage - 4, 4 * kHugePage + 100}) {
    auto* memory = static_cast<unsigned char*>(aligned_allocate(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % kHugePage, 0u);
    memory[0] = 1;
    memory[bytes - 1] = 2;
    EXPECT_EQ(memory[0] + memory[bytes - 1], 3);
    aligned_release(memory);
  }
}

TEST(AlignedMemory, WorkspacesKeepWhatTheyHave) {
  Workspace workspace;
  void* first = workspace.at_least(1000);
  EXPECT_EQ(workspace.at_least(500), first);
  EXPECT_EQ(workspace.at_least(1000), first);
  EXPECT_NE(workspace.at_least(100000), nullptr);
  EXPECT_THROW(workspace.at_least(SIZE_MAX / 2), IoError);
  EXPECT_NE(workspace.at_least(10), nullptr);  // still of use after the throw
}

}  // namespace
}  // namespace volvelle
