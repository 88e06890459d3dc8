#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/random_vectors.h"
#include "volvelle/base/error.h"
#include "volvelle/base/torch_generator.h"

namespace volvelle {
namespace {

std::uint32_t crc(const TorchGenerator& generator) {
  testing::Crc32 crc;
  crc.add(generator.state());
  return crc.value();
}

void draw_normals(TorchGenerator& generator, std::size_t count) {
  std::vector<float> out(count);
  generator.normal(out);
}

void draw_units(TorchGenerator& generator, std::size_t count) {
  std::vector<float> out(count);
  generator.uniform(out);
}

// From PyTorch 2.13, tests/golden/make_generator_states.py.
TEST(TorchGeneratorState, HasPyTorchsBytes) {
  TorchGenerator generator(5);
  EXPECT_EQ(generator.state().size(), 5056u);
  EXPECT_EQ(crc(generator), 0xE2922ED1u);
  draw_normals(generator, 3);
  EXPECT_EQ(crc(generator), 0x906277CEu);
  draw_normals(generator, 1);
  EXPECT_EQ(crc(generator), 0x0A02E497u);
  draw_units(generator, 616);
  EXPECT_EQ(crc(generator), 0x48DAE3A3u);
  draw_units(generator, 1);
  EXPECT_EQ(crc(generator), 0x4C11B581u);
  EXPECT_EQ(crc(TorchGenerator()), 0xD096FA09u);
}

TEST(TorchGeneratorState, RestoredGoesOnFromThere) {
  for (const std::size_t drawn : {0u, 3u, 16u, 623u, 624u, 625u}) {
    TorchGenerator generator(8);
    draw_units(generator, drawn);
    draw_normals(generator, drawn % 2);
    TorchGenerator other(1);
    draw_normals(other, 1);  // leaves one waiting, which must go
    other.restore(generator.state());
    EXPECT_EQ(other.state(), generator.state());
    EXPECT_EQ(other.initial_seed(), 8u);
    std::vector<float> ours(7), theirs(7);
    other.normal(ours);
    generator.normal(theirs);
    EXPECT_EQ(ours, theirs) << drawn;
    EXPECT_EQ(other.word64(), generator.word64()) << drawn;
  }
}

TEST(TorchGeneratorState, BytesThatAreNoStateAreRefused) {
  TorchGenerator generator(8), before = generator;
  auto state = generator.state();
  EXPECT_THROW(generator.restore(std::span(state).first(5055)), InvalidArgument);
  const auto changed = [&](std::size_t at, int value) {
    auto bytes = state;
    bytes[at] = static_cast<std::byte>(value);
    return bytes;
  };
  EXPECT_THROW(generator.restore(changed(8, 200)), InvalidArgument);     // left, without used
  EXPECT_THROW(generator.restore(changed(12, 0)), InvalidArgument);      // not seeded
  EXPECT_THROW(generator.restore(changed(16, 9)), InvalidArgument);      // used, without left
  EXPECT_THROW(generator.restore(changed(24 + 5, 1)), InvalidArgument);  // more than 32 bits
  EXPECT_EQ(generator.word64(), before.word64());
}

}  // namespace
}  // namespace volvelle
