#pragma once

#include <cstdint>

#include "attention/resolved.h"
#include "attention/rotary_rows.h"
#include "kernels/rotate.h"

namespace volvelle {

/// Rows of some successive tokens, `heads` of each; strides in elements, those of a row next to
/// each other. The places may be the same.
struct RowPlaces {
  DType dtype = DType::float32;
  const void* from = nullptr;
  std::int64_t from_token = 0, from_head = 0;
  void* to = nullptr;
  std::int64_t to_token = 0, to_head = 0;
  std::int64_t heads = 1;
};

/// How the fused path turns a problem's queries or keys: by the kernels, in the problem's dtype or
/// what it widens to. A row's bits depend on the row, its type and its turn alone.
class RowTurns {
 public:
  RowTurns(const ResolvedAttention& problem, TurnedRows which);

  explicit operator bool() const { return tables_.present; }

  /// Turns rows of tokens [first, first + count) of batch row b.
  void run(std::int64_t b, std::int64_t first, std::int64_t count, TurnDirection direction,
           const RowPlaces& rows) const;

 private:
  std::int64_t position(std::int64_t b, std::int64_t token) const;
  const void* table_row(const Strided4& table, std::int64_t b, std::int64_t position,
                        void* room) const;

  const ResolvedAttention& problem_;
  TurnedRows which_;
  TurnTables tables_;
  bool given_;   ///< positions are the caller's, else they rise by one
  bool direct_;  ///< the kernels read the tables where they lie
};

}  // namespace volvelle
