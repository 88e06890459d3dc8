#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/chunks.h"
#include "ops/joint_axes.h"

namespace volvelle {

/// Calls run(offsets, count) for stretches of elements that lie next to each other in every array
/// (single ones where there are no longer ones); together they are all elements of the axes.
template <int kArrays, class Run>
void for_each_run(JointAxes<kArrays> axes, int threads, Run&& run) {
  using Offsets = typename JointAxes<kArrays>::Offsets;
  const typename JointAxes<kArrays>::Axis inner = axes.take_innermost();
  const bool dense = std::all_of(inner.strides.begin(), inner.strides.end(),
                                 [](std::int64_t stride) { return stride == 1; });
  const auto part = [&](const Offsets& row, std::int64_t first, std::int64_t count) {
    Offsets at = row;
    const auto step = [&](std::int64_t by) {
      for (std::size_t a = 0; a < kArrays; ++a) at[a] += by * inner.strides[a];
    };
    step(first);
    if (dense) return run(at, count);
    for (std::int64_t i = 0; i < count; ++i, step(1)) run(at, std::int64_t{1});
  };
  if (axes.count() == 1) {
    for_each_chunk(inner.length, threads,
                   [&](std::int64_t first, std::int64_t count) { part(Offsets{}, first, count); });
    return;
  }
  const std::int64_t rows =
      std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(1, inner.length));  // of one task
  parallel_for((axes.count() + rows - 1) / rows, threads, [&](std::int64_t task) {
    const std::int64_t past = std::min(axes.count(), (task + 1) * rows);
    for (std::int64_t row = task * rows; row < past; ++row) {
      part(axes.offsets(row), 0, inner.length);
    }
  });
}

}  // namespace volvelle
