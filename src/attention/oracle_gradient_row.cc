#include "attention/oracle_gradient_row.h"

#include <cmath>
#include <limits>

#include "attention/dropout.h"

namespace volvelle {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

}  // namespace

GradientRow::GradientRow(const ResolvedAttention& problem, const ResolvedBackward& backward,
                         BackwardFault fault, GradientSum sum)
    : r_(problem),
      back_(backward),
      fault_(fault),
      sum_(sum),
      scale_(fault == BackwardFault::scale_missing ? 1.0 : problem.scale),
      has_sink_(problem.sinks.present),
      cells_(static_cast<std::size_t>(problem.keys)) {
  scale_ = term(scale_);
}

double GradientRow::grad_output(std::int64_t e) const {
  return term(element(back_.grad_output, back_.grad_output.offset(b_, h_, i_, e)));
}

void GradientRow::locate(std::int64_t b, std::int64_t h, std::int64_t i) {
  b_ = b;
  h_ = h;
  i_ = i;
  stream_ = dropout_stream(r_, b, h);
  if (fault_ == BackwardFault::dropout_unscaled) stream_.kept = 1;
}

// P of every key, and the row's log-sum-exp.
void GradientRow::softmax() {
  const bool sunk = has_sink_ && fault_ != BackwardFault::sink_missing;
  const double sink = sunk ? r_.sinks.value(h_, 0) : kNone;
  double largest = sink;
  empty_ = true;
  for (std::int64_t j = 0; j < r_.keys; ++j) {
    Cell& cell = at(j);
    cell.seen = volvelle::sees(r_, pair(j), AttentionFault::none);
    if (!cell.seen) continue;
    cell.weight = volvelle::score(r_, pair(j), AttentionFault::none);
    if (cell.weight != kNone) empty_ = false;  // NaN is no reason to call it empty
    if (!(cell.weight <= largest)) largest = cell.weight;
  }
  if (empty_) return;
  double sum = sunk ? std::exp(sink - largest) : 0.0;
  for (const Cell& cell : cells_) {
    if (cell.seen) sum += std::exp(cell.weight - largest);
  }
  lse_ = largest + std::log(sum);
  for (Cell& cell : cells_) {
    if (cell.seen) cell.weight = std::exp(cell.weight - largest) / sum;
  }
}

// dP = M * (grad_output . v)
void GradientRow::back_through_values(std::int64_t j) {
  Cell& cell = at(j);
  if (r_.dropout > 0) cell.factor = dropout_factor(stream_, i_, j);
  const std::int64_t first = r_.v.offset(b_, r_.key_head(h_), j, 0);
  double sum = 0;
  for (std::int64_t e = 0; e < r_.value_width; ++e) {
    sum += grad_output(e) * term(element(r_.v, first + e * r_.v.stride[3]));
    if (r_.relative_values.present()) {
      sum += grad_output(e) * term(relative_element(r_, r_.relative_values, pair(j), e));
    }
  }
  cell.grad_weight = cell.factor * sum;
}

// dS = P * (dP - delta)
void GradientRow::back_through_softmax(std::int64_t j) {
  Cell& cell = at(j);
  const double delta = fault_ == BackwardFault::delta_missing ? 0.0 : delta_;
  cell.score = cell.weight *
               (sum_ == GradientSum::terms ? cell.grad_weight - delta : cell.grad_weight + delta);
  // Of 1 - t^2 the rounding of t is a share of 1, not of the difference.
  const bool flat = fault_ == BackwardFault::cap_slope_missing || sum_ == GradientSum::magnitudes;
  cell.slope = flat ? 1.0 : cap_slope(r_, pair(j));
}

void GradientRow::back_to_sink() {
  sink_ = 0;
  if (has_sink_ && !empty_) sink_ = term(-std::exp(r_.sinks.value(h_, 0) - lse_) * delta_);
}

void GradientRow::compute(std::int64_t b, std::int64_t h, std::int64_t i) {
  locate(b, h, i);
  softmax();
  delta_ = 0;
  if (!empty_) {
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      if (!at(j).seen) continue;
      back_through_values(j);
      delta_ += at(j).weight * at(j).grad_weight;  // grad_output . output
    }
    if (sum_ == GradientSum::magnitudes && r_.dtype == DType::float16) {
      // A saved output is a multiple of 2^-24: as if it were no smaller than rounds to that.
      for (std::int64_t e = 0; e < r_.value_width; ++e) delta_ += 0x1p-13 * grad_output(e);
    }
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      if (at(j).seen) back_through_softmax(j);
    }
  }
  back_to_sink();
}

void GradientRow::take_saved(std::int64_t b, std::int64_t h, std::int64_t i) {
  locate(b, h, i);
  lse_ = element(back_.lse, back_.lse.offset(b, h, i, 0));
  empty_ = lse_ == kNone;
  delta_ = 0;
  for (std::int64_t e = 0; !empty_ && e < r_.value_width; ++e) {
    delta_ += grad_output(e) * term(element(back_.output, back_.output.offset(b, h, i, e)));
  }
  back_to_sink();
}

void GradientRow::compute_cell(std::int64_t j) {
  Cell& cell = at(j);
  cell = {};
  cell.seen = volvelle::sees(r_, pair(j), AttentionFault::none);
  if (!cell.seen) return;
  cell.weight = std::exp(volvelle::score(r_, pair(j), AttentionFault::none) - lse_);
  back_through_values(j);
  back_through_softmax(j);
}

}  // namespace volvelle
