#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "attention/carver.h"
#include "attention/composed_vectors.h"
#include "attention/resolved_backward.h"

namespace volvelle {

/// Elements of the gradients that several heads may add to: what one head gives, and all together.
struct SharedCounts {
  std::int64_t bias = 0, bias_table = 0, bucket_table = 0;  ///< of one head
  /// Distinct (b, h) planes of the bias to which several heads add; 0 where each has its own.
  std::int64_t bias_planes = 0;
  /// Reached relative vectors of keys, queries and values; the heads share them or have their own.
  std::array<std::int64_t, 3> vectors = {};
  std::array<bool, 3> vectors_shared = {};

  SharedCounts(const ResolvedAttention& r, const ResolvedBackward& back) {
    const auto& bias_stride = back.grad_bias.stride;
    if (back.grad_bias.present) {
      bias = (bias_stride[2] == 0 ? 1 : r.queries) * (bias_stride[3] == 0 ? 1 : r.keys);
      const std::int64_t planes =
          (bias_stride[0] == 0 ? 1 : r.batch) * (bias_stride[1] == 0 ? 1 : r.heads);
      if (planes < r.batch * r.heads) bias_planes = planes;
    }
    if (back.grad_bias_table.present) bias_table = r.bias_table.shape[1];
    if (back.grad_bucket_table.present) bucket_table = r.bucket_table.shape[1];
    const auto count_vectors = [&](std::size_t which, const Strided4& gradient,
                                   const RelativeVectors& of, std::int64_t width) {
      if (gradient.present) vectors[which] = of.count * width;
      vectors_shared[which] = gradient.stride[1] == 0;
    };
    count_vectors(0, back.grad_relative_keys, r.relative_keys, r.width);
    count_vectors(1, back.grad_relative_queries, r.relative_queries, r.width);
    count_vectors(2, back.grad_relative_values, r.relative_values, r.value_width);
  }

  std::int64_t of_head() const { return of(1, 1); }
  std::int64_t of_all(const ResolvedAttention& r) const { return of(bias_planes, r.heads); }
  /// Of relative vectors, over so many heads.
  std::int64_t of_vectors(std::size_t which, std::int64_t heads) const {
    return vectors[which] * (vectors_shared[which] ? 1 : heads);
  }

 private:
  std::int64_t of(std::int64_t planes, std::int64_t heads) const {
    std::int64_t sum = bias * planes + (bias_table + bucket_table + 2) * heads;
    for (std::size_t which = 0; which < vectors.size(); ++which) sum += of_vectors(which, heads);
    return sum;
  }
};

/// Doubles for the gradients that heads share: of one head, or of all.
struct SharedSums {
  SharedSums(double* at, const SharedCounts& counts, std::int64_t planes, std::int64_t heads)
      : bias(at),
        bias_table(bias + counts.bias * planes),
        bucket_table(bias_table + counts.bias_table * heads),
        slope(bucket_table + counts.bucket_table * heads),
        sink(slope + heads) {
    double* next = sink + heads;
    for (std::size_t which = 0; which < vectors.size(); ++which) {
      vectors[which] = next;
      next += counts.of_vectors(which, heads);
    }
  }

  double *bias, *bias_table, *bucket_table, *slope, *sink;
  std::array<double*, 3> vectors;  ///< of keys, queries, values
};

/// One head's arrays in one workspace.
template <class Real>
struct HeadMemory {
  static constexpr std::int64_t kLine = 64;

  /// 0 when the bytes do not fit 63 bits.
  static std::size_t bytes(const ResolvedAttention& r, const SharedCounts& counts) {
    std::int64_t pairs = 0;
    std::int64_t sum = 0;
    const std::int64_t per_pair =
        (r.softcap > 0 ? 3 : 2) * static_cast<std::int64_t>(sizeof(Real)) + 1;
    if (__builtin_mul_overflow(r.queries, r.keys, &pairs) ||
        __builtin_mul_overflow(pairs, per_pair, &sum)) {
      return 0;
    }
    const std::int64_t line = 16 * kLine;
    for (const std::int64_t count : rows(r)) {  // checked products: resolve() saw to their size
      const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(Real));
      if (__builtin_add_overflow(sum, bytes, &sum)) return 0;
    }
    std::int64_t shared = 0;
    if (__builtin_mul_overflow(counts.of_head(), std::int64_t{8}, &shared) ||
        __builtin_add_overflow(sum, shared, &sum) || __builtin_add_overflow(sum, line, &sum)) {
      return 0;
    }
    return static_cast<std::size_t>((sum + kLine - 1) / kLine * kLine);
  }

  HeadMemory(const ResolvedAttention& r, const SharedCounts& counts, void* memory) {
    Carver carver(memory);
    const std::int64_t pairs = r.queries * r.keys;
    shared = carver.take<double>(counts.of_head());
    weights = carver.take<Real>(pairs);
    scores = carver.take<Real>(pairs);
    slopes = r.softcap > 0 ? carver.take<Real>(pairs) : nullptr;
    Real** const arrays[] = {&inputs, &values, &output, &grad_output, &maxima,
                             &lse,    &deltas, &grad_q, &grad_k,      &grad_v};
    const auto count = rows(r);
    for (std::size_t n = 0; n < count.size(); ++n) *arrays[n] = carver.take<Real>(count[n]);
    excluded = carver.take<bool>(pairs);
  }

  const Real* q() const { return inputs; }
  const Real* k(const ResolvedAttention& r) const { return inputs + r.queries * r.width; }
  const Real* relative_keys(const ResolvedAttention& r) const { return k(r) + r.keys * r.width; }
  const Real* relative_queries(const ResolvedAttention& r) const {
    return relative_keys(r) + r.relative_keys.count * r.width;
  }
  Real* relative_values(const ResolvedAttention& r) const {
    return values + r.keys * r.value_width;
  }

  double* shared;
  Real *weights, *scores, *slopes;
  Real *inputs, *values, *output, *grad_output, *maxima, *lse, *deltas, *grad_q, *grad_k, *grad_v;
  bool* excluded;

 private:
  static std::array<std::int64_t, 10> rows(const ResolvedAttention& r) {
    const std::int64_t t = r.queries, s = r.keys;
    return {composed_score_inputs(r),
            composed_value_inputs(r),
            t * r.value_width,
            t * r.value_width,
            t,
            t,
            t,
            t * r.width,
            s * r.width,
            s * r.value_width};
  }
};

}  // namespace volvelle
