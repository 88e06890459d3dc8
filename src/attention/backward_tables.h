#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/offset_bias.h"
#include "attention/resolved_backward.h"
#include "base/aligned_memory.h"
#include "kernels/attention_backward.h"

namespace volvelle {

/// What one task gathers for one head, in double.
struct OffsetSums {
  double* entries = nullptr;         ///< the slope, the table, the buckets
  double* by_place = nullptr;        ///< of OffsetBias's places: sums along diagonals so far
  std::int64_t first = 0, past = 0;  ///< places that hold something
  double* line = nullptr;            ///< scratch: the diagonals of one step
};

/// Gradients of the biases that depend on the offset alone: slopes, clamped table, buckets. Each
/// task gathers a head's sums by offset, which is what tiles have along their diagonals, and turns
/// them into those of entries at the end; they are added plane by plane in the tasks' order and
/// joined over the batch.
template <class T>
class OffsetGradients {
 public:
  OffsetGradients(const ResolvedAttention& problem, const ResolvedBackward& backward,
                  const OffsetBias<T>& bias, Workspace& workspace);

  bool wanted() const { return entries_ > 0; }
  /// Carves a task's sums out of `base` and returns the bytes they take; null: measures.
  std::size_t carve(OffsetSums& sums, int panel, void* base) const;
  void clear(OffsetSums& sums) const;

  /// Adds a step's gradients to `sums`: its lane 0 is `query`, `count` lanes are queries, its first
  /// key is `key`.
  void add(std::int64_t b, std::int64_t query, int count, std::int64_t key,
           const kernels::BackwardStep<T>& step, int panel, OffsetSums& sums) const;
  /// Adds a task's sums to those of plane (b, h) and sets them to 0.
  void flush(std::int64_t b, std::int64_t h, OffsetSums& sums);
  /// Joins and stores.
  void finish() const;

 private:
  void take(std::int64_t offset, double grad, OffsetSums& sums) const;

  const ResolvedAttention& problem_;
  const ResolvedBackward& backward_;
  const OffsetBias<T>& bias_;
  const kernels::BackwardKernels<T>& kernels_;
  std::int64_t entries_ = 0, table_ = 0, buckets_ = 0;  // table_, buckets_: entries of each
  double* sums_ = nullptr;                              // (B,H,entries)
  std::int32_t* bucket_at_ = nullptr;                   // (2 reach + 1)
};

}  // namespace volvelle
