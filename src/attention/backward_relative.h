#pragma once

#include <cstdint>

#include "attention/relative_keys.h"
#include "attention/resolved_backward.h"
#include "base/aligned_memory.h"

namespace volvelle {

/// The gradient of relative keys: of each reached vector the queries that met it, weighted by the
/// gradients of their scores. A task gathers a head's sums in T, in bands as those of keys; they
/// are added plane by plane, in double and in the tasks' order, and joined at the end.
/// Memory: a double for each reached element of each plane.
template <class T>
class RelativeKeyGradients {
 public:
  RelativeKeyGradients(const ResolvedAttention& problem, const ResolvedBackward& backward,
                       Workspace& workspace);

  bool wanted() const { return sums_ != nullptr; }
  std::int64_t reached() const { return problem_.relative_keys.count; }

  /// Adds a task's sums [bands][reached][band] of the plane (b, h), and sets them to 0.
  void flush(std::int64_t b, std::int64_t h, std::int64_t band, T* sums);
  /// Joins over the batch, and the heads where they share vectors, and stores; 0 where no pair
  /// reaches a vector.
  void finish() const;

 private:
  const ResolvedAttention& problem_;
  const ResolvedBackward& backward_;
  double* sums_ = nullptr;  // (B,H,reached,D)
};

/// Why relative keys cannot go back in tiles; nullptr when they can. Numbers that are not finite
/// would reach what does not see them.
const char* relative_keys_refusal(const ResolvedAttention& problem);

}  // namespace volvelle
