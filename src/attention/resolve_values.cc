#include "attention/resolve_values.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "tensor/convert.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

// Rows along the last axis of up to four axes; axes of stride 0 hold the same elements all along
// and are read once.
template <class Row>
void for_each_stored_row(const Strided4& laid, const std::int64_t shape[4], Row&& row) {
  std::int64_t length[3];
  for (int axis = 0; axis < 3; ++axis) {
    if (shape[axis] == 0) return;
    length[axis] = laid.stride[axis] == 0 ? 1 : shape[axis];
  }
  for (std::int64_t a = 0; a < length[0]; ++a) {
    for (std::int64_t b = 0; b < length[1]; ++b) {
      for (std::int64_t c = 0; c < length[2]; ++c) row(a, b, c);
    }
  }
}

template <class T>
bool only_zero_and_one(const T* first, std::int64_t count, std::int64_t stride) {
  using Bits = std::make_unsigned_t<T>;
  Bits seen = 0;
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) seen |= static_cast<Bits>(first[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) seen |= static_cast<Bits>(first[i * stride]);
  }
  return seen <= 1;
}

template <class T>
[[noreturn]] void refuse_keep_value(const View& keep, const T* row, Axes place) {
  const int missing = 4 - keep.rank();
  const std::int64_t stride = keep.rank() == 0 ? 0 : keep.strides()[keep.rank() - 1];
  while (row[place[3] * stride] == 0 || row[place[3] * stride] == 1) ++place[3];
  Axes own;
  for (int axis = missing; axis < 4; ++axis) own.push_back(place[axis]);
  refuse("keep holds " + std::to_string(row[place[3] * stride]) + " at " + to_string(own) +
         "; it must be boolean or hold only 0 and 1 (1 sees, 0 is excluded)");
}

[[noreturn]] void refuse_at(const char* name, std::int64_t value, std::int64_t b, std::int64_t i,
                            const std::string& rule) {
  refuse(std::string(name) + " holds " + std::to_string(value) + " at " + to_string(Axes{b, i}) +
         "; " + rule);
}

std::int64_t stored_rows(const Strided2& array) {
  return array.stride[0] == 0 && array.shape[0] > 1 ? 1 : array.shape[0];
}

}  // namespace

void check_keep(const NamedView& array) {
  const View& keep = array.view;
  if (keep.dtype() == DType::boolean) return;
  if (is_floating(keep.dtype())) {
    refuse(described("keep", keep) + " is " + std::string(name_of(keep.dtype())) +
           "; a float mask is an additive bias: give it as `bias`, or make it boolean");
  }
  std::int64_t shape[4];
  const Strided4 laid = on_four_axes(array, shape);
  visit_dtype(keep.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* data = static_cast<const T*>(keep.data());
      for_each_stored_row(laid, shape, [&](std::int64_t a, std::int64_t b, std::int64_t c) {
        const T* row = data + laid.offset(a, b, c, 0);
        if (!only_zero_and_one(row, shape[3], laid.stride[3])) {
          refuse_keep_value(keep, row, {a, b, c, 0});
        }
      });
    }
  });
}

void check_sinks(const Strided2& sinks) {
  for (std::int64_t h = 0; h < sinks.shape[0]; ++h) {
    const double value = sinks.value(h, 0);
    if (!std::isfinite(value) && !(value < 0)) {
      refuse("sinks holds " + std::to_string(value) + " for head " + std::to_string(h) +
             "; a sink is a finite logit, or -inf for none");
    }
  }
}

void check_positions(const char* name, const Strided2& positions) {
  const std::int64_t rows = stored_rows(positions);
  for (std::int64_t b = 0; b < rows; ++b) {
    for (std::int64_t i = 0; i < positions.shape[1]; ++i) {
      const std::int64_t value = positions.integer(b, i);
      if (value < -kLargestPosition || value > kLargestPosition) {
        refuse_at(name, value, b, i, "positions must lie within +-2^30");
      }
    }
  }
}

void check_segments(const char* name, const Strided2& segments) {
  if (segments.dtype != DType::uint64) return;  // every other integer fits as it is
  constexpr std::int64_t kHeld = std::numeric_limits<std::int64_t>::max();
  const std::int64_t rows = stored_rows(segments);
  for (std::int64_t b = 0; b < rows; ++b) {
    for (std::int64_t i = 0; i < segments.shape[1]; ++i) {
      if (segments.integer(b, i) == kHeld) {
        refuse_at(name, kHeld, b, i, "segment ids must lie below 2^63 - 1");
      }
    }
  }
}

void check_key_lengths(const ResolvedAttention& problem) {
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    const std::int64_t length = problem.key_lengths.integer(b, 0);
    if (length < 0 || length > problem.keys) {
      refuse("key_lengths holds " + std::to_string(length) + " for batch row " + std::to_string(b) +
             "; it must lie between 0 and S=" + std::to_string(problem.keys));
    }
  }
}

void check_offsets(const ResolvedAttention& problem) {
  const bool by_position = problem.slopes.present || problem.bias_table.present ||
                           problem.bucket_table.present || problem.has_relative_vectors();
  const char* reader = problem.has_relative_vectors() ? "relative vectors" : "a bias by position";
  const bool implied = !problem.query_positions.present || !problem.key_positions.present;
  if (by_position && implied &&
      (problem.queries > kLargestPosition || problem.keys > kLargestPosition)) {
    refuse("T=" + std::to_string(problem.queries) + ", S=" + std::to_string(problem.keys) +
           " with " + reader + ": positions must lie within +-2^30");
  }
  if (!problem.query_offset.present) return;
  constexpr std::int64_t kExact = std::int64_t{1} << 39;
  const bool wide =
      problem.window > kExact || problem.window_right > kExact || problem.chunk > kExact;
  const bool read_by_bias = by_position && !problem.query_positions.present;
  const std::int64_t limit = read_by_bias ? kLargestPosition : kLargestOffset;
  if (!read_by_bias && !wide) return;  // held within +-2^40 it excludes the same keys
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    const std::int64_t offset = problem.query_offset.integer(b, 0);
    if (offset >= -limit && offset <= limit) continue;
    refuse("query_offset " + std::to_string(offset) + " of batch row " + std::to_string(b) +
           (read_by_bias ? " with " + std::string(reader) +
                               " must lie within +-2^30; give query_positions and key_positions "
                               "instead"
                         : " with a window or chunk beyond 2^39 must lie within +-2^40"));
  }
}

}  // namespace volvelle
