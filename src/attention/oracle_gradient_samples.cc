#include <algorithm>
#include <vector>

#include "attention/oracle_backward.h"
#include "attention/oracle_gradient_row.h"
#include "attention/oracle_turns.h"

namespace volvelle {
namespace {

class KeySums {
 public:
  KeySums(const ResolvedAttention& r, BackwardFault fault, double* grad_k, double* grad_v)
      : r_(r),
        grad_k_(grad_k),
        grad_v_(grad_v),
        k_left_(left_by(fault, BackwardFault::k_halved, BackwardFault::k_dropped)),
        v_left_(left_by(fault, BackwardFault::v_halved, BackwardFault::v_dropped)) {}

  void clear(std::size_t rows) {
    const auto count = static_cast<std::int64_t>(rows);
    if (grad_k_ != nullptr) std::fill_n(grad_k_, count * r_.width, 0.0);
    if (grad_v_ != nullptr) std::fill_n(grad_v_, count * r_.value_width, 0.0);
  }

  // What query i of head h gives to the key in place `place`.
  void add(const GradientRow& row, std::size_t place, const Pair& at) {
    if (!row.sees(at.j)) return;
    const auto first = static_cast<std::int64_t>(place);
    if (grad_k_ != nullptr) {
      const double product = k_left_ * row.product(at.j);
      for (std::int64_t d = 0; d < r_.width; ++d) {
        grad_k_[first * r_.width + d] += product * element(r_.q, r_.q.offset(at.b, at.h, at.i, d));
        if (r_.relative_queries.present()) {
          grad_k_[first * r_.width + d] +=
              product * relative_element(r_, r_.relative_queries, at, d);
        }
      }
    }
    if (grad_v_ != nullptr) {
      const double share = v_left_ * row.value_share(at.j);
      for (std::int64_t e = 0; e < r_.value_width; ++e) {
        grad_v_[first * r_.value_width + e] += share * row.grad_output(e);
      }
    }
  }

 private:
  const ResolvedAttention& r_;
  double *grad_k_, *grad_v_;
  double k_left_, v_left_;
};

}  // namespace

void attend_backward_oracle_queries(const ResolvedAttention& given,
                                    const ResolvedBackward& backward,
                                    std::span<const QueryRow> rows, double* grad_q,
                                    BackwardFault fault) {
  OracleTurns turns(given);
  const ResolvedAttention& r = turns.problem();
  GradientRow row(r, backward, fault, GradientSum::terms);
  const double left = left_by(fault, BackwardFault::q_halved, BackwardFault::q_dropped);
  for (const QueryRow& at : rows) {
    std::fill_n(grad_q, r.width, 0.0);
    turns.select_query(at.batch, at.head, at.query);
    row.compute(at.batch, at.head, at.query);
    const std::int64_t g = r.key_head(at.head);
    for (std::int64_t j = 0; j < r.keys && !row.empty(); ++j) {
      if (!row.sees(j)) continue;
      const double product = left * row.product(j);
      for (std::int64_t d = 0; d < r.width; ++d) {
        grad_q[d] += product * element(r.k, r.k.offset(at.batch, g, j, d));
        if (r.relative_keys.present()) {
          const Pair pair{at.batch, at.head, at.query, j};
          grad_q[d] += product * relative_element(r, r.relative_keys, pair, d);
        }
      }
    }
    if (fault != BackwardFault::turn_back_missing) {
      turn_rows(given, {TurnedRows::queries, at.batch, at.query, 1}, TurnDirection::back, grad_q);
    }
    grad_q += r.width;
  }
}

void attend_backward_oracle_keys(const ResolvedAttention& given, const ResolvedBackward& backward,
                                 std::span<const KeyRow> rows, double* grad_k, double* grad_v,
                                 RowStatistics statistics, BackwardFault fault) {
  OracleTurns turns(given);
  const ResolvedAttention& r = turns.problem();
  KeySums sums(r, fault, grad_k, grad_v);
  sums.clear(rows.size());
  GradientRow row(r, backward, fault, GradientSum::terms);
  const std::int64_t group = r.heads / r.key_heads;
  const std::int64_t reaching = fault == BackwardFault::key_heads_not_summed ? 1 : group;
  // Rows of one key head share the rows of queries.
  std::vector<char> done(rows.size());
  for (std::size_t first = 0; first < rows.size(); ++first) {
    if (done[first]) continue;
    const auto [b, g, unused] = rows[first];
    std::vector<std::size_t> places;
    for (std::size_t place = first; place < rows.size(); ++place) {
      if (rows[place].batch == b && rows[place].key_head == g) places.push_back(place);
    }
    for (const std::size_t place : places) done[place] = 1;
    for (std::int64_t h = g * group; h < g * group + reaching; ++h) {
      turns.select(b, h);
      for (std::int64_t i = 0; i < r.queries; ++i) {
        const bool saved = statistics == RowStatistics::saved;
        if (saved) {
          row.take_saved(b, h, i);
        } else {
          row.compute(b, h, i);
        }
        if (row.empty()) continue;
        for (const std::size_t place : places) {
          if (saved) row.compute_cell(rows[place].key);
          sums.add(row, place, {b, h, i, rows[place].key});
        }
      }
    }
  }
  if (grad_k == nullptr || fault == BackwardFault::turn_back_missing) return;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    turn_rows(given, {TurnedRows::keys, rows[place].batch, rows[place].key, 1}, TurnDirection::back,
              grad_k + static_cast<std::int64_t>(place) * r.width);
  }
}

}  // namespace volvelle
