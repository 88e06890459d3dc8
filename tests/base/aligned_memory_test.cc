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
