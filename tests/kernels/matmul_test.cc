// The product kernel by itself: every height of its register blocks against double, and the rule
// that an element's bits are those of one chain of sums per block of depth.

#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/aligned_memory.h"
#include "base/random_numbers.h"
#include "support/instruction_sets.h"

namespace volvelle {
namespace {

class MatmulKernel : public testing::OnEveryInstructionSet {};

struct AlignedFloats {
  explicit AlignedFloats(std::size_t n)
      : data(static_cast<float*>(aligned_allocate(n * sizeof(float)))), count(n) {}
  ~AlignedFloats() { aligned_release(data); }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;
  float* data;
  std::size_t count;
};

TEST_P(MatmulKernel, EveryCountOfRowsAndPanelsGivesTheSameBits) {
  RandomNumbers random(1);
  constexpr int kRows = 30, kPanels = 9, kDepth = 37;
  AlignedFloats left(kRows * kDepth), right(kPanels * kDepth * 32), start(kPanels * kRows * 32);
  AlignedFloats wanted(start.count), out(start.count);
  for (const AlignedFloats* array : {&left, &right, &start}) {
    for (std::size_t i = 0; i < array->count; ++i) {
      array->data[i] = static_cast<float>(random.normal());
    }
  }
  const auto run = [&](int rows, int panels, bool fresh, float* to) {
    std::memcpy(to, start.data, start.count * sizeof(float));
    kernels::MatmulStep step;
    step.left = left.data;
    step.row_stride = kDepth;
    step.right = right.data;
    step.right_panel = kDepth * 32;
    step.rows = rows;
    step.panels = panels;
    step.depth = kDepth;
    step.out = to;
    step.out_panel = kRows * 32;
    step.fresh = fresh;
    kernels::matmul_kernels().step(step);
  };
  for (const bool fresh : {true, false}) {
    run(kRows, kPanels, fresh, wanted.data);
    for (int p = 0; p < kPanels; ++p) {
      for (int r = 0; r < kRows; ++r) {
        for (int c = 0; c < 32; ++c) {
          const int at = (p * kRows + r) * 32 + c;
          double sum = 0, size = 1;
          for (int i = 0; i < kDepth; ++i) {
            const double term = static_cast<double>(left.data[r * kDepth + i]) *
                                static_cast<double>(right.data[(p * kDepth + i) * 32 + c]);
            sum += term;
            size += std::fabs(term);
          }
          if (!fresh) sum += static_cast<double>(start.data[at]);
          ASSERT_NEAR(static_cast<double>(wanted.data[at]), sum, 6e-7 * size);
        }
      }
    }
    for (int rows = 1; rows < kRows; ++rows) {
      for (const int panels : {1, 2, 3, 4, 5, 8, 9}) {
        run(rows, panels, fresh, out.data);
        for (int p = 0; p < kPanels; ++p) {
          for (int r = 0; r < kRows; ++r) {
            const float* right_bits = p < panels && r < rows ? wanted.data : start.data;
            const int at = (p * kRows + r) * 32;  // what is not asked for is left alone
            ASSERT_EQ(std::memcmp(out.data + at, right_bits + at, 32 * sizeof(float)), 0)
                << rows << " rows, " << panels << " panels: panel " << p << " row " << r;
          }
        }
      }
    }
  }
}

// A left operand whose rows lie next to each other, and one read backwards.
TEST_P(MatmulKernel, AnyStridesOfTheLeftOperand) {
  constexpr int kRows = 15, kDepth = 20;
  AlignedFloats left(kRows * kDepth), right(kDepth * 32), wanted(kRows * 32), out(kRows * 32);
  std::vector<float> across(kRows * kDepth), backwards(kRows * kDepth);
  RandomNumbers random(2);
  for (int r = 0; r < kRows; ++r) {
    for (int i = 0; i < kDepth; ++i) {
      const float value = static_cast<float>(random.normal());
      left.data[r * kDepth + i] = value;
      across[static_cast<std::size_t>(i * kRows + r)] = value;
      backwards[static_cast<std::size_t>((kRows - 1 - r) * kDepth + kDepth - 1 - i)] = value;
    }
  }
  for (std::size_t i = 0; i < right.count; ++i) {
    right.data[i] = static_cast<float>(random.normal());
  }
  kernels::MatmulStep step;
  step.left = left.data;
  step.row_stride = kDepth;
  step.right = right.data;
  step.rows = kRows;
  step.panels = 1;
  step.depth = kDepth;
  step.fresh = true;
  step.out = wanted.data;
  kernels::matmul_kernels().step(step);
  step.out = out.data;
  step.left = across.data();
  step.row_stride = 1;
  step.left_step = kRows;
  kernels::matmul_kernels().step(step);
  EXPECT_EQ(std::memcmp(out.data, wanted.data, out.count * sizeof(float)), 0);
  step.left = backwards.data() + backwards.size() - 1;
  step.row_stride = -kDepth;
  step.left_step = -1;
  kernels::matmul_kernels().step(step);
  EXPECT_EQ(std::memcmp(out.data, wanted.data, out.count * sizeof(float)), 0);
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Kernels, MatmulKernel);

}  // namespace
}  // namespace volvelle
