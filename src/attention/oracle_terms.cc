#include "attention/oracle_terms.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tensor/convert.h"
#include "volvelle/attention/buckets.h"

namespace volvelle {
namespace {

std::int64_t floor_divided(std::int64_t value, std::int64_t by) {
  const std::int64_t quotient = value / by;
  return quotient - (value % by < 0 ? 1 : 0);
}

double dot(const ResolvedAttention& r, const Pair& at, std::int64_t key_head) {
  return visit_dtype(r.q.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* q = static_cast<const T*>(r.q.data) + r.q.offset(at.b, at.h, at.i, 0);
    const T* k = static_cast<const T*>(r.k.data) + r.k.offset(at.b, key_head, at.j, 0);
    double part[4] = {};  // additions that need not wait for each other
    const auto add = [&](std::int64_t d, int to) {
      part[to] += as_double(q[d * r.q.stride[3]]) * as_double(k[d * r.k.stride[3]]);
    };
    std::int64_t d = 0;
    for (; d + 4 <= r.width; d += 4) {
      for (int lane = 0; lane < 4; ++lane) add(d + lane, lane);
    }
    for (; d < r.width; ++d) add(d, 0);
    return (part[0] + part[2]) + (part[1] + part[3]);
  });
}

// q . rk + k . rq of one pair.
double relative_dot(const ResolvedAttention& r, const Pair& at, std::int64_t key_head,
                    AttentionFault fault) {
  double sum = 0;
  const auto add = [&](const RelativeVectors& vectors, const Strided4& rows, std::int64_t head,
                       std::int64_t row) {
    if (!vectors.present()) return;
    const std::int64_t entry = relative_entry(r, vectors, at, fault);
    for (std::int64_t d = 0; d < r.width; ++d) {
      sum += element(rows, rows.offset(at.b, head, row, d)) *
             element(vectors.rows, vectors.rows.offset(at.b, at.h, entry, d));
    }
  };
  add(r.relative_keys, r.q, at.h, at.i);
  add(r.relative_queries, r.k, key_head, at.j);
  return sum;
}

// All additive biases of one pair.
double bias(const ResolvedAttention& r, const Pair& at, AttentionFault fault) {
  double sum = 0;
  if (r.bias.present) sum += element(r.bias, r.bias.offset(at.b, at.h, at.i, at.j));
  const std::int64_t p = query_position(r, at.b, at.i);
  const std::int64_t j = key_position(r, at.b, at.j);
  if (r.slopes.present) {
    const double fall = r.slopes.value(at.h, 0) * static_cast<double>(std::abs(p - j));
    sum += fault == AttentionFault::slope_sign ? fall : -fall;
  }
  if (r.bias_table.present) {
    const std::int64_t m = r.bias_table.shape[1] / 2;
    sum += r.bias_table.value(at.h, std::clamp(j - p, -m, m) + m);
  }
  if (r.bucket_table.present) {
    sum += r.bucket_table.value(
        at.h, bucket_of(j - p, r.buckets, r.bucket_table.shape[1], r.max_distance));
  }
  return sum;
}

}  // namespace

std::int64_t query_position(const ResolvedAttention& r, std::int64_t b, std::int64_t i) {
  return r.query_positions.present ? r.query_positions.integer(b, i) : i + r.offset(b);
}

std::int64_t key_position(const ResolvedAttention& r, std::int64_t b, std::int64_t j) {
  return r.key_positions.present ? r.key_positions.integer(b, j) : j;
}

double cap_slope(const ResolvedAttention& r, const Pair& at) {
  if (!(r.softcap > 0)) return 1;
  const std::int64_t g = r.key_head(at.h);
  const double product = dot(r, at, g) + relative_dot(r, at, g, AttentionFault::none);
  const double t = std::tanh(product * r.scale / r.softcap);
  return 1 - t * t;
}

std::int64_t relative_entry(const ResolvedAttention& r, const RelativeVectors& vectors,
                            const Pair& at, AttentionFault fault) {
  std::int64_t offset = key_position(r, at.b, at.j) - query_position(r, at.b, at.i);
  if (fault == AttentionFault::relative_sign) offset = -offset;
  if (fault == AttentionFault::relative_shifted) ++offset;
  return vectors.entry(offset);
}

double relative_element(const ResolvedAttention& r, const RelativeVectors& vectors, const Pair& at,
                        std::int64_t d, AttentionFault fault) {
  const std::int64_t entry = relative_entry(r, vectors, at, fault);
  return element(vectors.rows, vectors.rows.offset(at.b, at.h, entry, d));
}

double element(const Strided4& array, std::int64_t offset) {
  return visit_dtype(array.dtype, [&](auto zero) {
    return as_double(static_cast<const decltype(zero)*>(array.data)[offset]);
  });
}

void store_rounded(const Strided4& array, std::int64_t offset, double value) {
  visit_dtype(array.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* place = static_cast<T*>(const_cast<void*>(array.data)) + offset;
    if constexpr (std::is_same_v<T, Float16>) {
      *place = to_float16(value);
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      *place = to_bfloat16(value);
    } else {
      *place = static_cast<T>(value);
    }
  });
}

std::int64_t key_head_of(const ResolvedAttention& problem, std::int64_t head,
                         AttentionFault fault) {
  return fault == AttentionFault::key_heads_tiled ? head % problem.key_heads
                                                  : head / (problem.heads / problem.key_heads);
}

bool sees(const ResolvedAttention& r, const Pair& at, AttentionFault fault) {
  const std::int64_t j = at.j;
  const std::int64_t p = at.i + r.offset(at.b);
  if (r.causal && j >= r.prefix) {
    if (fault == AttentionFault::strict_diagonal ? j >= p : j > p) return false;
  }
  if (r.window > 0 && j <= p - r.window) return false;
  if (r.window_right > 0 && j >= p + r.window_right) return false;
  if (r.chunk > 0 && floor_divided(j, r.chunk) != floor_divided(p, r.chunk)) return false;
  if (r.key_lengths.present) {
    const std::int64_t length = r.key_lengths.integer(at.b, 0);
    if (r.padding == Padding::right ? j >= length : j < r.keys - length) return false;
  }
  if (r.query_segments.present &&
      r.query_segments.integer(at.b, at.i) != r.key_segments.integer(at.b, j)) {
    return false;
  }
  if (r.keep.present) {
    // Any non-zero byte of a boolean is true.
    Strided4 keep = r.keep;
    if (keep.dtype == DType::boolean) keep.dtype = DType::uint8;
    const bool kept = element(keep, keep.offset(at.b, at.h, at.i, j)) != 0;
    if (kept == (fault == AttentionFault::mask_inverted)) return false;
  }
  return true;
}

double score(const ResolvedAttention& r, const Pair& at, AttentionFault fault) {
  const double added = bias(r, at, fault);
  const bool early = fault == AttentionFault::bias_before_scaling;
  const std::int64_t g = key_head_of(r, at.h, fault);
  double s = dot(r, at, g);
  const double relative = relative_dot(r, at, g, fault);
  const bool unscaled = fault == AttentionFault::relative_unscaled;
  if (!unscaled) s += relative;
  if (early) s += added;
  s *= r.scale;
  if (unscaled) s += relative;
  if (r.softcap > 0 && fault != AttentionFault::cap_dropped) {
    s = r.softcap * std::tanh(s / r.softcap);
  }
  return early ? s : s + added;
}

}  // namespace volvelle
