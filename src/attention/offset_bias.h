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
  /// `panel`: lanes of a panel of queries whose diagonals will be asked for; 0: none will.
  OffsetBias(const ResolvedAttention& problem, T per_nat, int panel, Workspace& workspace);

  bool present() const { return present_; }

  /// Where the positions of queries [query, query + count) and of keys [key, key + keys) each run
  /// on by one, the bias is constant along diagonals: returns where query i meets key j at
  /// [i - j], readable for i < panel too; else null. `scratch` has room for keys + panel numbers
  /// and is written only where positions lie too far apart for laid_out().
  const T* diagonal(std::int64_t b, std::int64_t h, std::int64_t query, int count, std::int64_t key,
                    int keys, T* scratch) const;

  /// Whether every offset that occurs has a place among places(), from the largest down; so that
  /// the place of query i and key j of a diagonal is place_of(offset of query 0 and key 0) + i - j.
  bool laid_out() const { return places_ > 0; }
  std::int64_t places() const { return places_; }
  std::int64_t place_of(std::int64_t offset) const { return high_ - offset; }
  std::int64_t offset_at(std::int64_t place) const { return high_ - place; }

  /// bias[j * panel + i] += the bias of query i and key j, in nats.
  void add(std::int64_t b, std::int64_t h, std::int64_t query, int count, std::int64_t key,
           int keys, int panel, T* bias) const;

  /// The same for one query: bias[j] += its bias at key + j, in nats.
  void add_row(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t key, int keys,
               T* bias) const;

  /// Where the biases take query i and key j to stand.
  std::int64_t query_position(std::int64_t b, std::int64_t i) const;
  std::int64_t key_position(std::int64_t b, std::int64_t j) const;
  /// Offsets further than this get the bias, table entry and bucket of this one.
  std::int64_t reach() const { return reach_; }

 private:
  void read_positions(std::int64_t* place);
  void fill_table();
  void lay_out();
  T tabled(std::int64_t h, std::int64_t offset) const;
  T slope(std::int64_t h) const;

  const ResolvedAttention& problem_;
  bool present_;
  T per_nat_;
  int panel_;
  std::int64_t reach_ = 0;            // table_ covers offsets [-reach, reach], clamped beyond
  T* table_ = nullptr;                // (H, 2 reach + 1); null: no table or bucket bias
  std::int64_t high_ = 0;             // the largest offset that occurs
  std::int64_t places_ = 0;           // from it down to the lowest, and a panel more
  T* laid_out_ = nullptr;             // (H, places): all biases by offset, the largest first
  std::int64_t* query_at_ = nullptr;  // (B,T) explicit positions
  std::int64_t* key_at_ = nullptr;    // (B,S)
};

}  // namespace volvelle
