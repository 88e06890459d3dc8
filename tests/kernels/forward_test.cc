// The kernels by themselves, on every instruction set: exponentials through one tile, and the
// way of rows to lanes and back.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned_memory.h"
#include "kernels/attention_forward.h"
#include "volvelle/attention/simd.h"

namespace volvelle {
namespace {

template <class T>
struct Aligned {
  explicit Aligned(std::size_t n, T fill = 0)
      : data(static_cast<T*>(aligned_allocate(n * sizeof(T)))) {
    for (std::size_t i = 0; i < n; ++i) data[i] = fill;
  }
  ~Aligned() { aligned_release(data); }
  T* data;
};

class OnEveryTarget : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_simd_target(GetParam());
    ASSERT_EQ(simd_target(), GetParam());
  }
  void TearDown() override { set_simd_target("best"); }
};

// A tile of `keys` keys and values of width 1 against one vector of queries, none seen before: the
// raw score of query i and key j is queries[i] * k[j].
template <class T>
struct NarrowTile {
  explicit NarrowTile(int keys)
      : k(static_cast<std::size_t>(keys)), v(static_cast<std::size_t>(keys), 1) {
    step.k = k.data;
    step.v = v.data;
    step.k_stride = step.v_stride = 1;
    step.keys = keys;
    step.width = step.value_width = 1;
    step.vectors = step.across = 1;
    step.queries = queries.data;
    step.scores = scores.data;
    step.out = out.data;
    step.maximum = maximum.data;
    step.sum = sum.data;
  }
  void run() { kernels::forward_kernels<T>().tile(step); }
  T weight(int key, int query) const {
    return scores.data[key * kernels::forward_kernels<T>().lanes + query];
  }

  Aligned<T> k, v;
  Aligned<T> queries{64}, scores{128 * 64}, out{64}, sum{64};
  Aligned<T> maximum{64, -std::numeric_limits<T>::infinity()};
  kernels::TileStep<T> step;
};

// Scores (x, 0) with x below 0: the maximum is 0 and the first weight power(x).
template <class T>
void check_exponentials(double bound) {
  const int panel = kernels::forward_kernels<T>().lanes;
  double worst = 0;
  for (int block = 0; block < 2000; ++block) {
    NarrowTile<T> tile(2);
    tile.k.data[0] = 1;
    for (int i = 0; i < panel; ++i) {
      tile.queries.data[i] = static_cast<T>(-(block * panel + i) * 0.0137 / std::max(1, panel / 4));
    }
    tile.run();
    for (int i = 0; i < panel; ++i) {
      const double x = static_cast<double>(tile.queries.data[i]);
      const double wanted = sizeof(T) == 4 ? std::exp2(x) : std::exp(x);
      EXPECT_EQ(tile.weight(1, i), 1);  // power(0) is exactly 1
      if (wanted < 1e-37) continue;     // float32 flushes these to 0
      worst = std::max(worst, std::abs(static_cast<double>(tile.weight(0, i)) / wanted - 1));
    }
  }
  EXPECT_LE(worst, bound);
  EXPECT_GT(worst, 0);
}

TEST_P(OnEveryTarget, ExponentialsAreAccurate) {
  check_exponentials<float>(1.6e-7);
  check_exponentials<double>(8e-16);
}

// Weights on both sides of the smallest normal number: they are normal or exactly 0.
template <class T>
void check_no_subnormal(T border) {
  bool some = false;
  bool none = false;
  for (T x = border - 4; x <= border + 4; x += T{0.25}) {
    NarrowTile<T> tile(2);
    tile.k.data[0] = 1;
    tile.queries.data[0] = x;
    tile.run();
    const T weight = tile.weight(0, 0);
    EXPECT_TRUE(weight == 0 || weight >= std::numeric_limits<T>::min()) << x << ": " << weight;
    some = some || weight != 0;
    none = none || weight == 0;
  }
  EXPECT_TRUE(some && none);
}

TEST_P(OnEveryTarget, WeightsAreNeverSubnormal) {
  check_no_subnormal<float>(-126);
  check_no_subnormal<double>(-708);
}

TEST_P(OnEveryTarget, NanStaysAndMinusInfinityIsNothing) {
  const int panel = kernels::forward_kernels<float>().lanes;
  NarrowTile<float> tile(2);
  for (int i = 0; i < panel; ++i) tile.queries.data[i] = 1;
  tile.k.data[0] = -std::numeric_limits<float>::infinity();
  tile.k.data[1] = 0.5f;
  tile.run();
  for (int i = 0; i < panel; ++i) {
    EXPECT_EQ(tile.weight(0, i), 0);
    EXPECT_EQ(tile.sum.data[i], 1);
  }
  tile.k.data[0] = std::numeric_limits<float>::quiet_NaN();
  tile.run();
  for (int i = 0; i < panel; ++i) EXPECT_TRUE(std::isnan(tile.sum.data[i]));
}

template <class T>
void check_transpose() {
  const kernels::ForwardKernels<T>& table = kernels::forward_kernels<T>();
  const int panel = 2 * table.lanes;
  for (int rows = 1; rows <= panel; ++rows) {
    for (const int columns : {1, 2, 3, 4, 5, 7, 8, 13, 64}) {
      const int stride = columns + 3;
      Aligned<T> from(static_cast<std::size_t>(rows * stride + 1));
      Aligned<T> to(static_cast<std::size_t>(panel * columns), T{99});
      for (int i = 0; i < rows * stride + 1; ++i) from.data[i] = static_cast<T>(i + 1);
      table.transpose(from.data + 1, stride, rows, columns, T{2}, to.data, panel);
      for (int c = 0; c < columns; ++c) {
        for (int r = 0; r < panel; ++r) {
          const T wanted = r < rows ? 2 * from.data[1 + r * stride + c] : T{0};
          ASSERT_EQ(to.data[c * panel + r], wanted) << rows << " x " << columns;
        }
      }
    }
  }
}

TEST_P(OnEveryTarget, RowsBecomeLanes) {
  check_transpose<float>();
  check_transpose<double>();
}

template <class T>
void check_finish() {
  const kernels::ForwardKernels<T>& table = kernels::forward_kernels<T>();
  for (const int vectors : {1, 2}) {
    const int panel = vectors * table.lanes;
    for (int queries = 1; queries <= panel; ++queries) {
      for (const int width : {1, 2, 3, 4, 6, 9, 64}) {
        Aligned<T> out(static_cast<std::size_t>(panel * width)), maximum(64), sum(64, 4), lse(64);
        const int stride = width + 2;
        Aligned<T> rows(static_cast<std::size_t>(queries * stride), T{-7});
        for (int i = 0; i < panel * width; ++i) out.data[i] = static_cast<T>(i);
        sum.data[0] = 0;  // the first query saw no key
        kernels::PanelFinish<T> finish;
        finish.out = out.data;
        finish.maximum = maximum.data;
        finish.sum = sum.data;
        finish.value_width = width;
        finish.vectors = vectors;
        finish.queries = queries;
        finish.rows = rows.data;
        finish.row_stride = stride;
        finish.lse = lse.data;
        EXPECT_TRUE(table.finish(finish));
        for (int q = 0; q < queries; ++q) {
          for (int e = 0; e < stride; ++e) {
            const T wanted = e >= width ? T{-7} : q == 0 ? T{0} : static_cast<T>(e * panel + q) / 4;
            ASSERT_EQ(rows.data[q * stride + e], wanted) << q << " of " << queries << ", " << e;
          }
          if (q == 0) {
            EXPECT_EQ(lse.data[0], -std::numeric_limits<T>::infinity());
          } else {
            EXPECT_NEAR(static_cast<double>(lse.data[q]), std::log(4.0), 1e-6);
          }
        }
      }
    }
  }
}

TEST_P(OnEveryTarget, LanesBecomeRows) {
  check_finish<float>();
  check_finish<double>();
}

TEST_P(OnEveryTarget, FinishReportsWhatIsNotFinite) {
  const kernels::ForwardKernels<float>& table = kernels::forward_kernels<float>();
  const int panel = table.lanes;
  Aligned<float> out(static_cast<std::size_t>(panel) * 5, 1.0f), maximum(64), sum(64, 1),
      rows(64 * 5);
  out.data[4 * panel] = std::numeric_limits<float>::infinity();
  kernels::PanelFinish<float> finish;
  finish.out = out.data;
  finish.maximum = maximum.data;
  finish.sum = sum.data;
  finish.value_width = 5;
  finish.vectors = 1;
  finish.queries = panel;
  finish.rows = rows.data;
  finish.row_stride = 5;
  EXPECT_FALSE(table.finish(finish));
}

INSTANTIATE_TEST_SUITE_P(Kernels, OnEveryTarget, testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace volvelle
