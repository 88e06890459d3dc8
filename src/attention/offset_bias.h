#pragma once

#include <cstdint>

#include "attention/resolved.h"
#include "base/aligned_memory.h"

namespace volvelle {

/// The additive biases that depend on key position minus query position only (ALiBi slopes,
/// clamped table, T5 buckets), in units of 1 / per_nat, ready for tiles. Built once before the
/// walk; read by all threads. Memory: one number per head and distinct offset, and eight bytes
/// per token where positions are explicit.
template <class T>
class OffsetBias {
 public:
  OffsetBias(const ResolvedAttention& problem, T per_nat, Workspace& workspace);

  bool present() const { return present_; }

  /// Where the queries' and the keys' positions each run on by one, the bias is constant along
  /// diagonals: fills diagonal[x] for x in (-keys, panel) with the bias of query x against key 0,
  /// so that query i meets key j at diagonal[i - j], and returns true. Else returns false.
  bool fill_diagonal(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                     std::int64_t key, int keys, int panel, T* diagonal) const;

  /// bias[j * panel + i] += the bias of query i and key j, in nats.
  void add(std::int64_t b, std::int64_t h, std::int64_t query, int count, std::int64_t key,
           int keys, int panel, T* bias) const;

  /// Where the biases take query i and key j to stand.
  std::int64_t query_position(std::int64_t b, std::int64_t i) const;
  std::int64_t key_position(std::int64_t b, std::int64_t j) const;
  /// Offsets further than this get the bias, table entry and bucket of this one.
  std::int64_t reach() const { return reach_; }

 private:
  T tabled(std::int64_t h, std::int64_t offset) const;

  const ResolvedAttention& problem_;
  bool present_;
  T per_nat_;
  std::int64_t reach_ = 0;            // table_ covers offsets [-reach, reach], clamped beyond
  T* table_ = nullptr;                // (H, 2 reach + 1); null: no table or bucket bias
  std::int64_t* query_at_ = nullptr;  // (B,T) explicit positions
  std::int64_t* key_at_ = nullptr;    // (B,S)
};

}  // namespace volvelle
