#pragma once

#include <cstdint>

#include "attention/resolved_backward.h"
#include "base/aligned_memory.h"
#include "kernels/attention_backward.h"

namespace volvelle {

/// The gradient of a dense bias: the scores' gradients, summed over the axes along which it was
/// broadcast. What differs from cell to cell is added to the caller's array, or to one in the
/// computing type where that array is of another; sums over queries or keys are kept for each
/// plane (b, h) apart and joined at the end, so that their order is that of the planes.
template <class T>
class BiasGradient {
 public:
  BiasGradient(const ResolvedAttention& problem, const ResolvedBackward& backward,
               Workspace& workspace);

  bool wanted() const { return kind_ != Kind::none; }
  /// Cells of several planes go to one place: their planes must be walked one after another.
  bool joins_batch() const { return kind_ == Kind::cells && joined_batch_; }
  bool joins_heads() const { return kind_ == Kind::cells && joined_heads_; }
  /// Sums over keys: what is added for a query must come in the order of the keys.
  bool in_key_order() const { return kind_ == Kind::queries; }
  /// Elements of scratch that add() needs for a step.
  std::int64_t scratch_size(int panel) const;

  /// Everything to 0, before the first add().
  void clear(int threads);
  /// The step's gradients: its lane 0 is `query`, `count` of its lanes are queries, its first key
  /// is `key`.
  void add(std::int64_t b, std::int64_t h, std::int64_t query, int count, std::int64_t key,
           const kernels::BackwardStep<T>& step, int panel, T* scratch);
  /// Joins and stores, after the last add().
  void finish(int threads);

 private:
  enum class Kind : std::uint8_t { none, cells, queries, keys };

  const ResolvedAttention& problem_;
  const Strided4& target_;
  Kind kind_ = Kind::none;
  bool joined_batch_ = false, joined_heads_ = false;
  Strided4 cells_;          // where cells are added: the target itself or memory of our own
  double* sums_ = nullptr;  // (B,H,T) or (B,H,S)
};

}  // namespace volvelle
