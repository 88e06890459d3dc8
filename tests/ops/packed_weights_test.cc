#include "volvelle/ops/packed_weights.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/aligned_memory.h"
#include "base/random_numbers.h"
#include "ops/weight_storage.h"
#include "support/arrays.h"
#include "support/instruction_sets.h"
#include "volvelle/ops/linear.h"

namespace volvelle {
namespace {

class PackedWeightsOn : public testing::OnEveryInstructionSet {};

// The packed numbers are W's, with zeros beyond its edges, in every format and for every layout.
TEST_P(PackedWeightsOn, PanelsHoldTheMatrix) {
  RandomNumbers random(1);
  for (const auto& [outputs, inputs] : {std::pair{1, 1}, {33, 515}, {64, 256}, {70, 31}}) {
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
      const Tensor w = testing::filled(dtype, {outputs, inputs}, [&] { return random.normal(); });
      for (const auto layout :
           {testing::Layout::contiguous, testing::Layout::reversed, testing::Layout::gapped}) {
        const auto laid = testing::laid_out(w, layout);
        const PackedWeights packed(laid.view, {.threads = 2});
        const PackedWeights::Storage& storage = *packed.storage();
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(storage.data) % 64, 0u);
        ASSERT_EQ(storage.panels, (outputs + 31) / 32);
        Workspace workspace;
        float* panel = static_cast<float*>(
            workspace.at_least(static_cast<std::size_t>(inputs) * 32 * sizeof(float)));
        for (std::int64_t p = 0; p < storage.panels; ++p) {
          widen_panels(storage, p, 1, 0, inputs, panel, 0);
          for (int i = 0; i < inputs; ++i) {
            for (int c = 0; c < 32; ++c) {
              const std::int64_t output = p * 32 + c;
              const double wanted =
                  output < outputs ? element_as_double(w.view(), output * inputs + i) : 0;
              ASSERT_EQ(static_cast<double>(panel[i * 32 + c]), wanted)
                  << name_of(dtype) << " " << output << " " << i;
            }
          }
        }
      }
    }
  }
}

// Packed on one instruction set, used on another: the layout is the same on all.
TEST(PackedWeights, ServeEveryInstructionSet) {
  RandomNumbers random(2);
  const Tensor w = testing::filled(DType::float32, {40, 50}, [&] { return random.normal(); });
  const Tensor x = testing::filled(DType::float32, {3, 50}, [&] { return random.normal(); });
  for (const std::string& packing : simd_targets()) {
    set_simd_target(packing);
    const PackedWeights packed(w.view());
    for (const std::string& using_set : simd_targets()) {
      set_simd_target(using_set);
      Tensor y(DType::float32, {3, 40}), own(DType::float32, {3, 40});
      linear(x.view(), packed, y.mutable_view());
      linear(x.view(), PackedWeights(w.view()), own.mutable_view());
      EXPECT_EQ(testing::values_of(y.view()), testing::values_of(own.view()));
    }
  }
  set_simd_target("best");
}

TEST(PackedWeights, CopiesShareAndOutliveTheirSource) {
  std::vector<float> w{1, 2, 3, 4, 5, 6};
  PackedWeights copy;
  EXPECT_FALSE(copy);
  EXPECT_EQ(copy.outputs(), 0);
  EXPECT_EQ(copy.bytes(), 0u);
  {
    const PackedWeights packed(View(w.data(), {2, 3}));
    copy = packed;
    EXPECT_EQ(copy.storage(), packed.storage());
  }
  w.assign(6, 0);  // the packed numbers are its own
  const float x[] = {1, 10, 100};
  float y[2];
  linear(View(x, {3}), copy, MutableView(y, {2}));
  EXPECT_EQ(y[0], 321);
  EXPECT_EQ(y[1], 654);
  EXPECT_EQ(copy.inputs(), 3);
  EXPECT_EQ(copy.bytes(), 4u * 32 * 4);
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, PackedWeightsOn);

}  // namespace
}  // namespace volvelle
