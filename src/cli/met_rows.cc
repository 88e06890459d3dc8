#include "cli/met_rows.h"

#include <algorithm>
#include <cmath>

#include "cli/score_table.h"
#include "cli/view_axes.h"

namespace volvelle::cli {
namespace {

Tensor of_head(const View& array, std::int64_t batch, std::int64_t head) {
  return converted(head_of(with_rank(array, 4), batch, head), DType::float64);
}

// A list of one number for all rows, or one for each.
std::int64_t of_row(const View& list, std::int64_t batch) {
  const std::int64_t row = list.shape()[0] == 1 ? 0 : batch;
  return static_cast<std::int64_t>(element_as_double(list, row * list.strides()[0]));
}

std::int64_t position_in(const View& positions, std::int64_t batch, std::int64_t at) {
  const bool has_rows = positions.rank() == 2;
  const std::int64_t row = has_rows && positions.shape()[0] > 1 ? batch : 0;
  const Strides& strides = positions.strides();
  const std::int64_t offset = has_rows ? row * strides[0] + at * strides[1] : at * strides[0];
  return static_cast<std::int64_t>(element_as_double(positions, offset));
}

}  // namespace

MetRows::MetRows(const AttentionProblem& problem, const AttentionPlan& plan, std::int64_t batch,
                 std::int64_t head)
    : problem_(problem), plan_(plan), batch_(batch), head_(head) {
  const std::int64_t key_head = head / (plan.heads / plan.key_heads);
  q_ = of_head(problem.q, batch, head);
  k_ = of_head(problem.k, batch, key_head);
  v_ = of_head(problem.v, batch, key_head);
  if (turns(MetSide::queries)) q_ = turned(MetSide::queries, q_.view(), 1);
  if (turns(MetSide::keys)) k_ = turned(MetSide::keys, k_.view(), 1);
}

std::int64_t MetRows::position(MetSide side, std::int64_t row) const {
  if (side == MetSide::keys) {
    return problem_.key_positions ? position_in(problem_.key_positions, batch_, row) : row;
  }
  if (problem_.query_positions) return position_in(problem_.query_positions, batch_, row);
  if (problem_.query_offset) return row + of_row(problem_.query_offset, batch_);
  return problem_.alignment == Alignment::bottom_right ? row + plan_.keys - plan_.queries : row;
}

bool MetRows::turns(MetSide side) const {
  return problem_.rotary && !(side == MetSide::keys && problem_.rotary.keys_are_turned);
}

std::int64_t MetRows::pairs() const {
  const View& table = problem_.rotary.cosines;
  return table ? table.shape()[table.rank() - 1] : 0;
}

std::int64_t MetRows::first(std::int64_t pair) const {
  return problem_.rotary.pairing == RotaryPairing::interleaved ? 2 * pair : pair;
}

std::int64_t MetRows::second(std::int64_t pair) const {
  return problem_.rotary.pairing == RotaryPairing::interleaved ? 2 * pair + 1 : pair + pairs();
}

double MetRows::table_entry(const View& table, std::int64_t position, std::int64_t pair) const {
  const int rank = table.rank();
  const Strides& strides = table.strides();
  const std::int64_t row = rank == 3 && table.shape()[0] > 1 ? batch_ * strides[0] : 0;
  return element_as_double(table, row + position * strides[rank - 2] + pair * strides[rank - 1]);
}

MetRows::Turn MetRows::tables(MetSide side) const {
  const RotaryTurn& turn = problem_.rotary;
  const bool own = side == MetSide::keys && turn.key_cosines;
  return own ? Turn{turn.key_cosines, turn.key_sines} : Turn{turn.cosines, turn.sines};
}

double MetRows::cosine(MetSide side, std::int64_t row, std::int64_t pair) const {
  return table_entry(tables(side).cosines, position(side, row), pair);
}

double MetRows::sine(MetSide side, std::int64_t row, std::int64_t pair) const {
  return table_entry(tables(side).sines, position(side, row), pair);
}

double MetRows::angle_of_one(MetSide side, std::int64_t pair) const {
  const auto [cosines, sines] = tables(side);
  if (cosines.shape()[cosines.rank() - 2] < 2) return 0;
  return std::atan2(table_entry(sines, 1, pair), table_entry(cosines, 1, pair));
}

Tensor MetRows::turned(MetSide side, const View& rows, double direction) const {
  Tensor result = converted(rows, DType::float64);
  const std::int64_t width = rows.shape()[1];
  for (std::int64_t i = 0; i < rows.shape()[0]; ++i) {
    double* const row = result.data<double>() + i * width;
    for (std::int64_t pair = 0; pair < pairs(); ++pair) {
      const double c = cosine(side, i, pair), s = direction * sine(side, i, pair);
      double& a = row[first(pair)];
      double& b = row[second(pair)];
      const double before = a;
      a = before * c - b * s;
      b = before * s + b * c;
    }
  }
  return result;
}

// The transposed table takes a gradient back, factors on cosine and sine included.
Tensor MetRows::turned_back(MetSide side, const View& rows) const {
  return turns(side) ? turned(side, rows, -1) : converted(rows, DType::float64);
}

std::int64_t MetRows::offset(const View& table, std::int64_t i, std::int64_t j) const {
  const std::int64_t reach = table.shape()[table.rank() - 2] / 2;
  const std::int64_t apart = position(MetSide::keys, j) - position(MetSide::queries, i);
  return std::clamp(apart, -reach, reach);
}

double MetRows::relative(const View& table, std::int64_t i, std::int64_t j,
                         std::int64_t column) const {
  const int rank = table.rank();
  const Strides& strides = table.strides();
  const std::int64_t reach = table.shape()[rank - 2] / 2;
  const std::int64_t head = rank == 3 && table.shape()[0] > 1 ? head_ * strides[0] : 0;
  return element_as_double(
      table, head + (offset(table, i, j) + reach) * strides[rank - 2] + column * strides[rank - 1]);
}

double MetRows::relative_score(std::int64_t i, std::int64_t j) const {
  double sum = 0;
  for (std::int64_t d = 0; d < plan_.head_width; ++d) {
    if (problem_.relative_keys) {
      sum += element(q(), i, d) * relative(problem_.relative_keys, i, j, d);
    }
    if (problem_.relative_queries) {
      sum += element(k(), j, d) * relative(problem_.relative_queries, i, j, d);
    }
  }
  return sum;
}

Tensor MetRows::keys_for(std::int64_t i) const {
  if (!problem_.relative_keys) return k_;
  Tensor rows = copy_of(k());
  for (std::int64_t j = 0; j < plan_.keys; ++j) {
    for (std::int64_t d = 0; d < plan_.head_width; ++d) {
      rows.data<double>()[j * plan_.head_width + d] += relative(problem_.relative_keys, i, j, d);
    }
  }
  return rows;
}

Tensor MetRows::queries_for(std::int64_t j) const {
  if (!problem_.relative_queries) return q_;
  Tensor rows = copy_of(q());
  for (std::int64_t i = 0; i < plan_.queries; ++i) {
    for (std::int64_t d = 0; d < plan_.head_width; ++d) {
      rows.data<double>()[i * plan_.head_width + d] += relative(problem_.relative_queries, i, j, d);
    }
  }
  return rows;
}

Tensor MetRows::values_for(std::int64_t i) const {
  if (!problem_.relative_values) return v_;
  Tensor rows = copy_of(v());
  for (std::int64_t j = 0; j < plan_.keys; ++j) {
    for (std::int64_t e = 0; e < plan_.value_width; ++e) {
      rows.data<double>()[j * plan_.value_width + e] += relative(problem_.relative_values, i, j, e);
    }
  }
  return rows;
}

Tensor turned_rows(const AttentionProblem& problem, const AttentionPlan& plan, MetSide side) {
  const bool queries = side == MetSide::queries;
  const std::int64_t heads = queries ? plan.heads : plan.key_heads;
  const std::int64_t rows = queries ? plan.queries : plan.keys;
  const std::int64_t group = plan.heads / plan.key_heads;
  Tensor all(DType::float64, Shape{plan.batch, heads, rows, plan.head_width});
  double* to = all.data<double>();
  for (std::int64_t b = 0; b < plan.batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const MetRows met(problem, plan, b, queries ? h : h * group);
      const Tensor one = copy_of(queries ? met.q() : met.k());
      to = std::copy_n(one.data<double>(), one.size(), to);
    }
  }
  return problem.q.dtype() == DType::float64 ? all : converted(all.view(), DType::float32);
}

}  // namespace volvelle::cli
