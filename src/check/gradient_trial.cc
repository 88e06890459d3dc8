#include "check/gradient_trial.h"

#include <algorithm>
#include <utility>

#include "check/problem_part.h"
#include "check/row_difference.h"
#include "check/row_reader.h"
#include "volvelle/attention/attend.h"

namespace volvelle {
namespace {

Strided4 strided(const View& view) {
  const FourAxes four(view);
  return {.data = view.data(),
          .dtype = view.dtype(),
          .stride = {four.stride[0], four.stride[1], four.stride[2], four.stride[3]},
          .present = true};
}

// A candidate's mask is the problem's own or none; looking through all of it once per candidate
// would take longer than the rows do.
ResolvedAttention resolved_with_mask_of(AttentionProblem problem, const ResolvedAttention& own) {
  const bool masked = static_cast<bool>(problem.keep);
  problem.keep = View();
  ResolvedAttention resolved = resolve(problem);
  if (masked) resolved.keep = own.keep;
  return resolved;
}

// One row beside the file's; false beyond the tolerance.
bool take(const std::vector<double>& row, const std::vector<double>& given,
          const Tolerance& tolerance, GradientTrialResult& result) {
  for (std::size_t e = 0; e < row.size(); ++e) {
    result.max_abs = std::max(result.max_abs, difference(row[e], given[e]));
  }
  result.excess = std::max(result.excess, row_excess(row, given, tolerance));
  return result.excess <= 1;
}

}  // namespace

GradientTrial::GradientTrial(const GradientFaultCandidate& candidate,
                             const ResolvedAttention& resolved, const View& grad_output,
                             ProblemGroups& own_groups, WorkLeft& work)
    : candidate_(candidate),
      grad_output_(grad_output),
      work_(work),
      resolved_(resolved_with_mask_of(candidate.problem, resolved)),
      kept_(candidate.other_attention || candidate.reaching != Reaching::all ? groups_
                                                                             : own_groups) {}

GradientTrialResult GradientTrial::run(const GradientPair& pair, const RowChoice& rows) {
  GradientTrialResult result;
  switch (pair.of) {
    case GradientOf::q:
      result.reproduced =
          query_rows(pair, rows.first, result) && query_rows(pair, rows.confirm, result);
      break;
    case GradientOf::k:
    case GradientOf::v:
      result.reproduced =
          key_rows(pair, rows.first, result) && key_rows(pair, rows.confirm, result);
      break;
    case GradientOf::bias:
      result.reproduced = bias_place(pair, result);
      break;
    default:
      result.reproduced = head_sums(pair, result);
  }
  return result;
}

// A cell's dropout goes by its place in the whole problem.
bool GradientTrial::may_split(const Span& batch, const Span& heads) const {
  if (resolved_.dropout == 0 || (batch.first == 0 && heads.first == 0)) return true;
  work_.refused = true;
  return false;
}

bool GradientTrial::affords(double& left, std::int64_t width, const Span& batch,
                            const Span& heads) const {
  const double pairs = static_cast<double>(batch.count) * static_cast<double>(heads.count) *
                       static_cast<double>(resolved_.queries) * static_cast<double>(resolved_.keys);
  return work_.take(left, pairs * static_cast<double>(width));
}

ProblemGroup GradientTrial::part(const Span& batch, const Span& heads) const {
  ProblemGroup made;
  made.problem = problem_part(candidate_.problem, resolved_, batch, heads);
  made.resolved = resolve(made.problem);
  made.backward.grad_output =
      strided(part_of(grad_output_, batch, heads, Span{0, resolved_.queries}));
  return made;
}

const ProblemGroup* GradientTrial::group_of(std::int64_t batch, std::int64_t key_head) {
  for (const auto& one : kept_) {
    if (one->batch == batch && one->key_head == key_head) return one.get();
  }
  const std::int64_t size = resolved_.heads / resolved_.key_heads;
  const bool last = candidate_.reaching == Reaching::last;
  const Span rows{batch, 1};
  const Span heads{key_head * size + (last ? size - 1 : 0), last ? 1 : size};
  if (!may_split(rows, heads)) return nullptr;
  if (!affords(work_.attention, resolved_.width + resolved_.value_width, rows, heads)) {
    return nullptr;
  }
  auto made = std::make_unique<ProblemGroup>(part(rows, heads));
  made->batch = batch;
  made->key_head = key_head;
  made->saved = attend(made->problem);
  made->backward.output = strided(made->saved.output.view());
  const Shape& shape = made->saved.lse.shape();
  made->backward.lse = strided(
      View(made->saved.lse.raw(), made->saved.lse.dtype(), {shape[0], shape[1], shape[2], 1}));
  kept_.push_back(std::move(made));
  return kept_.back().get();
}

bool GradientTrial::query_rows(const GradientPair& pair, const std::vector<QueryRow>& rows,
                               GradientTrialResult& result) const {
  ResolvedBackward backward;
  backward.grad_output = strided(grad_output_);
  backward.grad_q.present = true;
  const FourAxes theirs(pair.theirs);
  std::vector<double> row(static_cast<std::size_t>(theirs.shape[3])), given(row.size());
  for (const QueryRow& at : rows) {
    attend_backward_oracle_queries(resolved_, backward, {&at, 1}, row.data(), candidate_.inside);
    theirs.read(at.batch, at.head, at.query, given.data());
    if (!take(row, given, pair.comparison.tolerance, result)) return false;
  }
  return true;
}

bool GradientTrial::key_rows(const GradientPair& pair, const std::vector<QueryRow>& rows,
                             GradientTrialResult& result) {
  const bool by_keys = pair.of == GradientOf::k;
  const RowStatistics statistics = candidate_.inside == BackwardFault::sink_missing
                                       ? RowStatistics::recomputed
                                       : RowStatistics::saved;
  const FourAxes theirs(pair.theirs);
  const auto width = static_cast<std::size_t>(theirs.shape[3]);
  std::vector<double> row(width), given(width);
  std::vector<char> done(rows.size());
  for (std::size_t first = 0; first < rows.size(); ++first) {
    if (done[first]) continue;
    std::vector<KeyRow> places;  // of this key head, for which the queries are gone through once
    for (std::size_t n = first; n < rows.size(); ++n) {
      if (rows[n].batch != rows[first].batch || rows[n].head != rows[first].head) continue;
      done[n] = 1;
      places.push_back({0, 0, rows[n].query});
    }
    const ProblemGroup* const group = group_of(rows[first].batch, rows[first].head);
    if (group == nullptr) return false;
    if (statistics == RowStatistics::recomputed &&
        !affords_loops({rows[first].batch, 1}, {0, group->resolved.heads})) {
      return false;
    }
    std::vector<double> made(places.size() * width);
    attend_backward_oracle_keys(group->resolved, group->backward, places,
                                by_keys ? made.data() : nullptr, by_keys ? nullptr : made.data(),
                                statistics, candidate_.inside);
    for (std::size_t n = 0; n < places.size(); ++n) {
      std::copy_n(made.begin() + static_cast<std::ptrdiff_t>(n * width), width, row.begin());
      theirs.read(rows[first].batch, rows[first].head, places[n].key, given.data());
      if (!take(row, given, pair.comparison.tolerance, result)) return false;
    }
  }
  return true;
}

bool GradientTrial::bias_place(const GradientPair& pair, GradientTrialResult& result) const {
  const FourAxes ours(pair.ours), theirs(pair.theirs);
  if (pair.comparison.at.empty()) return false;
  const int missing = 4 - static_cast<int>(pair.comparison.at.size());
  const std::int64_t full[2] = {resolved_.batch, resolved_.heads};
  Span spans[2];  // batch rows and heads that read the place
  std::int64_t place[2] = {0, 0};
  for (int axis = 0; axis < 2; ++axis) {
    if (ours.shape[axis] > 1) {
      place[axis] = pair.comparison.at[static_cast<std::size_t>(axis - missing)];
      spans[axis] = {place[axis], 1};
    } else if (candidate_.reaching == Reaching::last) {
      spans[axis] = {full[axis] - 1, 1};
    } else {
      spans[axis] = {0, full[axis]};
    }
  }
  if (!may_split(spans[0], spans[1]) || !affords_loops(spans[0], spans[1])) return false;
  ProblemGroup made = part(spans[0], spans[1]);
  const std::int64_t rows = ours.shape[2], columns = ours.shape[3];
  std::vector<double> sums(static_cast<std::size_t>(rows * columns));
  made.backward.grad_bias = {.data = sums.data(),
                             .dtype = DType::float64,
                             .stride = {0, 0, rows == 1 ? 0 : columns, columns == 1 ? 0 : 1},
                             .present = true};
  attend_backward_oracle(made.resolved, made.backward, candidate_.inside);
  std::vector<double> row(static_cast<std::size_t>(columns)), given(row.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    std::copy_n(sums.begin() + i * columns, columns, row.begin());
    theirs.read(place[0], place[1], i, given.data());
    if (!take(row, given, pair.comparison.tolerance, result)) return false;
  }
  return true;
}

// Whether the candidate's attention has the array at all: it may be what the candidate lacks.
bool GradientTrial::has_array(GradientOf of) const {
  switch (of) {
    case GradientOf::slopes:
      return resolved_.slopes.present;
    case GradientOf::sinks:
      return resolved_.sinks.present;
    case GradientOf::bias_table:
      return resolved_.bias_table.present;
    case GradientOf::bucket_table:
      return resolved_.bucket_table.present;
    default:
      return true;
  }
}

bool GradientTrial::head_sums(const GradientPair& pair, GradientTrialResult& result) const {
  if (pair.comparison.at.empty() || !has_array(pair.of)) return false;
  const std::int64_t head = pair.comparison.at.front();
  const Span batch{0, resolved_.batch}, heads{head, 1};
  if (!may_split(batch, heads) || !affords_loops(batch, heads)) return false;
  ProblemGroup made = part(batch, heads);
  const bool listed = pair.of == GradientOf::slopes || pair.of == GradientOf::sinks;
  const std::int64_t columns = listed ? 1 : pair.ours.shape()[1];
  std::vector<double> row(static_cast<std::size_t>(columns)), given(row.size());
  const Strided2 place{.data = row.data(),
                       .dtype = DType::float64,
                       .stride = {columns, 1},
                       .shape = {1, columns},
                       .present = true};
  ResolvedBackward& backward = made.backward;
  if (pair.of == GradientOf::slopes) backward.grad_slopes = place;
  if (pair.of == GradientOf::sinks) backward.grad_sinks = place;
  if (pair.of == GradientOf::bias_table) backward.grad_bias_table = place;
  if (pair.of == GradientOf::bucket_table) backward.grad_bucket_table = place;
  attend_backward_oracle(made.resolved, backward, candidate_.inside);
  if (listed) {
    const View& theirs = pair.theirs;
    given[0] = element_as_double(theirs, head * theirs.strides()[theirs.rank() - 1]);
  } else {
    FourAxes(pair.theirs).read(0, 0, head, given.data());
  }
  return take(row, given, pair.comparison.tolerance, result);
}

}  // namespace volvelle
