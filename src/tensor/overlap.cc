#include "tensor/overlap.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

namespace volvelle {
namespace {

struct Step {
  std::int64_t stride;  // bytes, positive
  std::int64_t count;
};

// The bytes that a view touches: from `first` on, runs of `run` bytes repeated along `steps`,
// sorted by stride. check_memory() has seen to it that nothing here overflows.
struct Touched {
  std::uintptr_t first = 0;
  std::int64_t run = 0;  // 0: nothing is touched
  std::array<Step, Axes::kMaxRank> steps{};
  int axes = 0;
  bool injective = true;
};

Touched touched_by(const View& view) {
  Touched touched;
  const std::int64_t size = static_cast<std::int64_t>(size_of(view.dtype()));
  touched.first = reinterpret_cast<std::uintptr_t>(view.data());
  for (const std::int64_t length : view.shape()) {
    if (length == 0) return touched;
  }
  for (int axis = 0; axis < view.rank(); ++axis) {
    const std::int64_t count = view.shape()[axis];
    if (count == 1) continue;
    const std::int64_t stride = view.strides()[axis] * size;
    if (stride < 0) touched.first -= static_cast<std::uintptr_t>(-stride * (count - 1));
    const Step step{stride < 0 ? -stride : stride, count};
    if (step.stride == 0) {
      touched.injective = false;
      continue;
    }
    int place = touched.axes++;
    for (; place > 0 && touched.steps[static_cast<unsigned>(place - 1)].stride > step.stride;
         --place) {
      touched.steps[static_cast<unsigned>(place)] = touched.steps[static_cast<unsigned>(place - 1)];
    }
    touched.steps[static_cast<unsigned>(place)] = step;
  }
  touched.run = size;
  std::int64_t reach = size;
  int kept = 0;
  for (int i = 0; i < touched.axes; ++i) {
    const Step step = touched.steps[static_cast<unsigned>(i)];
    touched.injective = touched.injective && step.stride >= reach;
    reach += step.stride * (step.count - 1);
    if (kept == 0 && step.stride <= touched.run) {  // no gap: the run grows
      touched.run += step.stride * (step.count - 1);
    } else {
      touched.steps[static_cast<unsigned>(kept++)] = step;
    }
  }
  touched.axes = kept;
  return touched;
}

}  // namespace

bool provably_disjoint(const View& a, const View& b) {
  const Touched left = touched_by(a);
  const Touched right = touched_by(b);
  if (left.run == 0 || right.run == 0) return true;
  // Every run of either view starts at its first byte plus a multiple of `period`.
  std::int64_t period = 0;
  for (int i = 0; i < left.axes; ++i) {
    period = std::gcd(period, left.steps[static_cast<unsigned>(i)].stride);
  }
  for (int i = 0; i < right.axes; ++i) {
    period = std::gcd(period, right.steps[static_cast<unsigned>(i)].stride);
  }
  if (period == 0) return false;  // two plain runs whose ranges meet
  const std::int64_t ahead = static_cast<std::int64_t>(
      left.first <= right.first
          ? (right.first - left.first) % static_cast<std::uintptr_t>(period)
          : static_cast<std::uintptr_t>(period) -
                (left.first - right.first - 1) % static_cast<std::uintptr_t>(period) - 1);
  return left.run <= ahead && ahead + right.run <= period;
}

bool provably_injective(const View& view) {
  std::int64_t dense = 1;  // row-major without gaps, as most arrays are, is quickly seen
  int axis = view.rank() - 1;
  for (; axis >= 0; --axis) {
    if (view.shape()[axis] != 1 && view.strides()[axis] != dense) break;
    dense *= view.shape()[axis];
  }
  return axis < 0 || touched_by(view).injective;
}

}  // namespace volvelle
