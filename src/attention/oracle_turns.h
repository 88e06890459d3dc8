#pragma once

#include <cstdint>
#include <vector>

#include "attention/oracle.h"
#include "attention/resolved.h"
#include "attention/rotary_rows.h"

namespace volvelle {

/// A problem as the oracle's loops read it: of the head selected last, q and k are rows of doubles
/// that were turned; without turns they are the caller's arrays. Loops hold on to problem() and
/// select a head before they read its rows.
class OracleTurns {
 public:
  explicit OracleTurns(const ResolvedAttention& given, AttentionFault fault = AttentionFault::none);
  OracleTurns(const OracleTurns&) = delete;
  OracleTurns& operator=(const OracleTurns&) = delete;

  const ResolvedAttention& problem() const { return turned_; }
  /// Head h of row b, all its queries or only query i.
  void select(std::int64_t b, std::int64_t h) { select(b, h, 0, given_.queries); }
  void select_query(std::int64_t b, std::int64_t h, std::int64_t i) { select(b, h, i, 1); }

 private:
  struct Rows {  // what is there: rows [first, first + count) of one head
    std::int64_t b = -1, h = -1, first = 0, count = 0;
    std::vector<double> numbers;
  };
  void select(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t count);
  void turn(TurnedRows which, const Rows& wanted, Rows& rows, Strided4& to);

  const ResolvedAttention& given_;
  AttentionFault fault_;
  ResolvedAttention turned_;
  Rows queries_, keys_;
};

}  // namespace volvelle
