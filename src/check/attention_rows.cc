#include "check/attention_rows.h"

#include <algorithm>

#include "attention/oracle_terms.h"
#include "check/problem_part.h"
#include "check/row_reader.h"
#include "check/view_part.h"
#include "tensor/convert.h"
#include "volvelle/attention/attend.h"

namespace volvelle {

RowSlice::RowSlice(const AttentionProblem& whole, const ResolvedAttention& resolved,
                   const Place& place, std::int64_t key_head)
    : problem_(problem_part(whole, resolved, {place.batch, 1}, {place.head, 1})) {
  const std::int64_t b = place.batch;
  AttentionProblem& p = problem_;
  const Span batch{b, 1}, head{place.head, 1}, key_place{key_head, 1};
  const Span rows{place.first, place.count}, keys{0, resolved.keys};
  p.q = part_of(whole.q, batch, head, rows);
  p.k = part_of(whole.k, batch, key_place, keys);
  p.v = part_of(whole.v, batch, key_place, keys);
  p.bias = part_of(whole.bias, batch, head, rows);
  p.keep = part_of(whole.keep, batch, head, rows);
  for (View* tokens : {&p.query_positions, &p.query_segments}) {
    *tokens = cut(*tokens, tokens->rank() - 1, rows);
  }
  offset_ = {resolved.offset(b) + place.first};
  p.query_offset = View(offset_.data(), {1});
  p.alignment = Alignment::bottom_right;  // the offset says it all
}

void RowSlice::keep_becomes_bias() {
  const FourAxes keep(problem_.keep);
  const std::int64_t keys = problem_.k.shape()[2];
  std::vector<double> kept(static_cast<std::size_t>(keep.shape[3]));
  keep.read(0, 0, 0, kept.data());
  bias_.assign(static_cast<std::size_t>(keys), 0);
  if (problem_.bias) {
    const FourAxes bias(problem_.bias);
    std::vector<double> given(static_cast<std::size_t>(bias.shape[3]));
    bias.read(0, 0, 0, given.data());
    for (std::size_t j = 0; j < bias_.size(); ++j) bias_[j] = given[given.size() == 1 ? 0 : j];
  }
  for (std::size_t j = 0; j < bias_.size(); ++j) bias_[j] += kept[kept.size() == 1 ? 0 : j];
  problem_.bias = View(bias_.data(), {1, keys});
  problem_.keep = View();
}

void RowSlice::invert_exclusion() {
  const ResolvedAttention resolved = resolve(problem_);
  keep_.resize(static_cast<std::size_t>(resolved.keys));
  for (std::int64_t j = 0; j < resolved.keys; ++j) {
    keep_[static_cast<std::size_t>(j)] =
        sees(resolved, {.b = 0, .h = 0, .i = 0, .j = j}, AttentionFault::none) ? 0 : 1;
  }
  AttentionProblem& p = problem_;
  p.causal = false;
  p.window = p.window_right = p.prefix = p.chunk = 0;
  p.key_lengths = p.query_segments = p.key_segments = View();
  p.padding = Padding::right;
  p.keep = View(keep_.data(), {1, resolved.keys});
}

void oracle_rows(const AttentionProblem& slice, AttentionFault fault, OracleRows& rows) {
  const ResolvedAttention resolved = resolve(slice);
  Tensor output(resolved.dtype, {1, 1, resolved.queries, resolved.value_width});
  Tensor lse(resolved.dtype == DType::float64 ? DType::float64 : DType::float32,
             {1, 1, resolved.queries});
  AttentionOutputs outputs;
  outputs.output = output.mutable_view();
  outputs.lse = lse.mutable_view();
  attend_oracle(resolved, resolve_outputs(resolved, slice, outputs), fault);
  rows.output.resize(static_cast<std::size_t>(output.size()));
  rows.lse.resize(static_cast<std::size_t>(lse.size()));
  const FourAxes read(output.view());
  for (std::int64_t t = 0; t < resolved.queries; ++t) {
    read.read(0, 0, t, rows.output.data() + t * resolved.value_width);
  }
  FourAxes(lse.view()).read(0, 0, 0, rows.lse.data());
}

std::vector<double> mean_value(const AttentionProblem& slice) {
  const FourAxes values(slice.v);
  const auto width = static_cast<std::size_t>(values.shape[3]);
  std::vector<double> mean(width, 0.0), row(width);
  for (std::int64_t j = 0; j < values.shape[2]; ++j) {
    values.read(0, 0, j, row.data());
    for (std::size_t e = 0; e < width; ++e) {
      mean[e] += row[e] / static_cast<double>(values.shape[2]);
    }
  }
  return mean;
}

}  // namespace volvelle
