// The backward kernels by themselves, on every instruction set, against plain loops.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned_memory.h"
#include "base/random_numbers.h"
#include "kernels/attention_backward.h"
#include "volvelle/attention/simd.h"

namespace volvelle {
namespace {

template <class T>
class Numbers {
 public:
  explicit Numbers(std::int64_t count, T fill = 0)
      : data_(static_cast<T*>(aligned_allocate(static_cast<std::size_t>(count) * sizeof(T)))),
        count_(count) {
    std::fill_n(data_, count, fill);
  }
  Numbers(const Numbers&) = delete;
  ~Numbers() { aligned_release(data_); }
  void draw(RandomNumbers& random) {
    for (std::int64_t i = 0; i < count_; ++i) data_[i] = static_cast<T>(random.normal());
  }
  T* data() { return data_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  double at(std::int64_t i) const { return static_cast<double>(data_[i]); }

 private:
  T* data_;
  std::int64_t count_;
};

class BackwardOnEveryTarget : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_simd_target(GetParam());
    ASSERT_EQ(simd_target(), GetParam());
  }
  void TearDown() override { set_simd_target("best"); }
};

template <class T>
double tolerance() {
  return sizeof(T) == 4 ? 2e-5 : 1e-12;
}

// One step with keys that some queries do not see, against the formulas of attend_backward.h.
template <class T>
void check_step(int keys, int width, int value_width, int vectors, bool masked) {
  const auto& forward = kernels::forward_kernels<T>();
  const auto& backward = kernels::backward_kernels<T>();
  const int panel = vectors * forward.lanes;
  RandomNumbers random(static_cast<std::uint64_t>(keys * 100 + width));
  Numbers<T> k(keys * width), v(keys * value_width), q(width * panel), grad(value_width * panel);
  Numbers<T> lse(panel), delta(panel), weights(kernels::kTileKeys * panel);
  Numbers<T> grads(kernels::kTileKeys * panel), sums(width * panel), first(panel), last(panel);
  for (Numbers<T>* drawn : {&k, &v, &q, &grad, &delta, &sums}) drawn->draw(random);
  std::vector<double> before(static_cast<std::size_t>(width * panel));
  for (int i = 0; i < width * panel; ++i) before[static_cast<std::size_t>(i)] = sums.at(i);
  for (int x = 0; x < panel; ++x) {
    lse[x] = static_cast<T>(4 + x % 3);
    first[x] = static_cast<T>(x % 2);
    last[x] = static_cast<T>(std::min(keys, 1 + x));
  }
  if (masked) v[0] = std::numeric_limits<T>::quiet_NaN();  // queries with odd x do not see key 0

  kernels::BackwardStep<T> step;
  step.tile.k = k.data();
  step.tile.k_stride = step.tile.width = width;
  step.tile.v = v.data();
  step.tile.v_stride = step.tile.value_width = value_width;
  step.tile.keys = keys;
  step.tile.vectors = step.tile.across = vectors;
  step.tile.queries = q.data();
  step.tile.scores = weights.data();
  if (masked) {
    step.tile.first = first.data();
    step.tile.last = last.data();
  }
  step.grad_output = grad.data();
  step.lse = lse.data();
  step.delta = delta.data();
  step.score_grads = grads.data();
  backward.weights(step);
  backward.score_grads(step);

  const double unit = static_cast<double>(forward.per_nat);
  for (int j = 0; j < keys; ++j) {
    for (int x = 0; x < panel; ++x) {
      const std::int64_t at = static_cast<std::int64_t>(j) * panel + x;
      if (masked && (j < x % 2 || j >= 1 + x)) {
        ASSERT_EQ(weights[at], 0) << "key " << j << " query " << x;
        ASSERT_EQ(grads[at], 0) << "key " << j << " query " << x;
        continue;
      }
      double score = -lse.at(x);
      double product = 0;
      for (int d = 0; d < width; ++d) score += k.at(j * width + d) * q.at(d * panel + x);
      for (int e = 0; e < value_width; ++e) {
        product += v.at(j * value_width + e) * grad.at(e * panel + x);
      }
      const double weight = std::exp(score / unit);
      const double wanted = weight * (product - delta.at(x));
      ASSERT_NEAR(weights.at(at), weight, tolerance<T>() * weight);
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(grads.at(at)));
      } else {
        ASSERT_NEAR(grads.at(at), wanted, tolerance<T>() * weight * 20);
      }
    }
  }
  if (masked) return;
  backward.query_grads(step, sums.data());
  for (int d = 0; d < width; ++d) {
    for (int x = 0; x < panel; ++x) {
      double wanted = before[static_cast<std::size_t>(d * panel + x)];
      for (int j = 0; j < keys; ++j) wanted += k.at(j * width + d) * grads.at(j * panel + x);
      ASSERT_NEAR(sums.at(d * panel + x), wanted, tolerance<T>() * (1 + std::fabs(wanted)) * 10);
    }
  }
  std::vector<double> diagonals(static_cast<std::size_t>(keys + panel + 1), 7.0);
  backward.diagonal_sums(step, diagonals.data() + keys);
  EXPECT_EQ(diagonals.front(), 7) << "beyond the last key";
  EXPECT_EQ(diagonals.back(), 7) << "beyond the last query";
  for (int offset = 1 - keys; offset < panel; ++offset) {
    double wanted = 7;
    for (int j = std::max(0, -offset); j < keys && j + offset < panel; ++j) {
      wanted += grads.at(j * panel + j + offset);
    }
    ASSERT_NEAR(diagonals.at(static_cast<std::size_t>(offset + keys)), wanted,
                tolerance<T>() * (1 + std::fabs(wanted)) * 10);
  }
}

template <class T>
void check_steps() {
  for (const int keys : {1, 12, 13, 14, 27, 128}) {
    for (const int vectors : {1, 2}) {
      check_step<T>(keys, 5, 9, vectors, false);
      check_step<T>(keys, 64, 3, vectors, true);
    }
  }
}

TEST_P(BackwardOnEveryTarget, WeightsAndGradientsOfScoresAreTheFormulas) {
  check_steps<float>();
  check_steps<double>();
}

// Two keys of scores 0 and x - 1, some of it a bias by distance: of the second one's weight nothing
// is left where gradients would be subnormal numbers.
template <class T>
void check_small_weights(T border) {
  const auto& forward = kernels::forward_kernels<T>();
  const int panel = forward.lanes;
  for (T x = border - 8; x <= border + 8; x += T{0.5}) {
    Numbers<T> k(2), v(2), q(panel), grad(panel), lse(panel), delta(panel);
    Numbers<T> weights(kernels::kTileKeys * panel), grads(kernels::kTileKeys * panel);
    Numbers<T> line(panel + 1);
    for (int i = 0; i < panel + 1; ++i) line[i] = static_cast<T>(i);
    kernels::BackwardStep<T> step;
    step.tile.k = k.data();
    step.tile.v = v.data();
    step.tile.k_stride = step.tile.v_stride = step.tile.width = step.tile.value_width = 1;
    step.tile.keys = 2;
    step.tile.vectors = step.tile.across = 1;
    step.tile.queries = q.data();
    step.tile.scores = weights.data();
    step.tile.diagonal = line.data() + 1;  // query i and key j: 1 + i - j
    step.grad_output = grad.data();
    step.lse = lse.data();
    step.delta = delta.data();
    step.score_grads = grads.data();
    for (int i = 0; i < panel; ++i) {
      q[i] = x;
      lse[i] = static_cast<T>(i + 1);
      delta[i] = static_cast<T>(-1e-3);
    }
    k[1] = 1;
    kernels::backward_kernels<T>().weights(step);
    kernels::backward_kernels<T>().score_grads(step);
    for (int i = 0; i < panel; ++i) {
      ASSERT_EQ(weights.at(i), 1) << "query " << i;
      const double ours = weights.at(panel + i);
      if (x - 1 < border) {
        ASSERT_EQ(ours, 0) << "query " << i << ", score " << x;
        continue;
      }
      const double unit = static_cast<double>(forward.per_nat);
      ASSERT_NEAR(ours / std::exp(static_cast<double>(x - 1) / unit), 1, 2e-5);
      ASSERT_GE(grads.at(panel + i), static_cast<double>(std::numeric_limits<T>::min()));
    }
  }
}

TEST_P(BackwardOnEveryTarget, WeightsTooSmallForGradientsAreNothing) {
  check_small_weights<float>(-100);
  check_small_weights<double>(-679);
}

template <class T>
void check_rows() {
  const auto& backward = kernels::backward_kernels<T>();
  const int lanes = kernels::forward_kernels<T>().lanes;
  RandomNumbers random(3);
  for (const int rows : {1, 12, 13, 14, 40}) {
    for (const int columns : {lanes, 2 * lanes, 5 * lanes}) {
      constexpr int kDepth[] = {3, 7};
      const int left_stride = 11;
      const int bands = (columns / lanes + 1) / 2;
      const auto at = [&](int r, int c, int height) {
        return c / (2 * lanes) * height * 2 * lanes + r * 2 * lanes + c % (2 * lanes);
      };
      Numbers<T> left(2 * rows * left_stride), right(10 * bands * 2 * lanes);
      Numbers<T> out(rows * bands * 2 * lanes);
      for (Numbers<T>* drawn : {&left, &right, &out}) drawn->draw(random);
      std::vector<double> wanted;
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
          double sum = out.at(at(r, c, rows));
          for (int i = 0; i < kDepth[0]; ++i) {
            sum += left.at(r * left_stride + i) * right.at(at(i, c, 10));
          }
          for (int i = 0; i < kDepth[1]; ++i) {
            sum += left.at((rows + r) * left_stride + i) * right.at(at(3 + i, c, 10));
          }
          wanted.push_back(sum);
        }
      }
      const kernels::ProductPart<T> parts[] = {
          {left.data(), right.data(), kDepth[0]},
          {left.data() + rows * left_stride, right.data() + 3 * 2 * lanes, kDepth[1]}};
      kernels::RowProduct<T> product;
      product.parts = parts;
      product.count = 2;
      product.rows = rows;
      product.columns = columns;
      product.left_stride = left_stride;
      product.right_band = 10 * 2 * lanes;
      product.out_band = rows * 2 * lanes;
      product.out = out.data();
      backward.add_rows(product);
      for (int n = 0; n < rows * columns; ++n) {
        ASSERT_NEAR(out.at(at(n / columns, n % columns, rows)), wanted[static_cast<std::size_t>(n)],
                    tolerance<T>() * 10)
            << n;
      }
    }
  }
}

TEST_P(BackwardOnEveryTarget, RowsAreAddedPartByPart) {
  check_rows<float>();
  check_rows<double>();
}

template <class T>
void check_row_dots_and_copies() {
  const auto& backward = kernels::backward_kernels<T>();
  RandomNumbers random(4);
  for (const int width : {1, 7, 16, 33, 64}) {
    Numbers<T> a(3 * 70), b(3 * 70), dots(3), copy(3 * 80, T{9});
    a.draw(random);
    b.draw(random);
    backward.row_dots(a.data(), 70, b.data(), 69, 3, width, dots.data());
    backward.copy_rows(a.data(), 70, 3, width, T{2}, copy.data(), 80, 75);
    for (int r = 0; r < 3; ++r) {
      double wanted = 0;
      for (int i = 0; i < width; ++i) wanted += a.at(r * 70 + i) * b.at(r * 69 + i);
      ASSERT_NEAR(dots.at(r), wanted, tolerance<T>() * 20);
      for (int i = 0; i < 80; ++i)
        ASSERT_EQ(copy[r * 80 + i], i < width ? 2 * a[r * 70 + i] : T(i < 75 ? 0 : 9));
    }
    ASSERT_TRUE(backward.all_finite(a.data(), 70, 3, width));
    a[2 * 70 + width - 1] = std::numeric_limits<T>::infinity();
    ASSERT_FALSE(backward.all_finite(a.data(), 70, 3, width));
    ASSERT_TRUE(backward.all_finite(a.data(), 70, 2, width));
  }
}

TEST_P(BackwardOnEveryTarget, RowsAreMultipliedCopiedAndLookedAt) {
  check_row_dots_and_copies<float>();
  check_row_dots_and_copies<double>();
}

INSTANTIATE_TEST_SUITE_P(Targets, BackwardOnEveryTarget, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace volvelle
