#pragma once

#include <cstdint>

#include "attention/offset_bias.h"
#include "attention/resolved_backward.h"
#include "base/aligned_memory.h"
#include "kernels/attention_backward.h"

namespace volvelle {

/// Gradients of the biases that depend on the offset alone: slopes, clamped table, buckets. Each
/// task gathers a head's sums in double; they are added plane by plane in the tasks' order and
/// joined over the batch at the end.
template <class T>
class OffsetGradients {
 public:
  OffsetGradients(const ResolvedAttention& problem, const ResolvedBackward& backward,
                  const OffsetBias<T>& bias, Workspace& workspace);

  bool wanted() const { return entries_ > 0; }
  /// Numbers that a task gathers for one head: the slope, the table, the buckets.
  std::int64_t entries() const { return entries_; }

  /// Adds a step's gradients to `sums`: its lane 0 is `query`, `count` lanes are queries, its first
  /// key is `key`. `diagonals` has room for kTileKeys + panel numbers.
  void add(std::int64_t b, std::int64_t query, int count, std::int64_t key,
           const kernels::BackwardStep<T>& step, int panel, T* diagonals, double* sums) const;
  /// Adds a task's sums to those of plane (b, h) and sets them to 0.
  void flush(std::int64_t b, std::int64_t h, double* sums);
  /// Joins and stores.
  void finish() const;

 private:
  void take(std::int64_t offset, double grad, double* sums) const;

  const ResolvedAttention& problem_;
  const ResolvedBackward& backward_;
  const OffsetBias<T>& bias_;
  const kernels::BackwardKernels<T>& kernels_;
  std::int64_t entries_ = 0, table_ = 0, buckets_ = 0;  // table_, buckets_: entries of each
  double* sums_ = nullptr;                              // (B,H,entries)
  std::int32_t* bucket_at_ = nullptr;                   // (2 reach + 1)
};

}  // namespace volvelle
