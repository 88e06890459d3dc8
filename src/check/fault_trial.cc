#include "check/fault_trial.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/row_difference.h"

namespace volvelle {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Shapes, scale and offsets of the whole; each slice is checked on its own, and looking through
// all of a large mask once per fault would take longer than the rows do.
ResolvedAttention resolved_without_keep(AttentionProblem problem) {
  problem.keep = View();
  return resolve(problem);
}

}  // namespace

FaultTrial::FaultTrial(const FaultCandidate& candidate, const FourAxes& theirs, const Rules& rules)
    : candidate_(candidate),
      theirs_(theirs),
      rules_(rules),
      resolved_(candidate.problem.dropout > 0 ? resolve(candidate.problem)
                                              : resolved_without_keep(candidate.problem)),
      given_(static_cast<std::size_t>(theirs.shape[3])) {}

QueryRow FaultTrial::source_of(const QueryRow& row) const {
  switch (candidate_.order) {
    case RowOrder::same:
      break;
    case RowOrder::swapped:
      return {row.batch, row.query, row.head};
    case RowOrder::bytes: {
      const std::int64_t flat = row.head * resolved_.queries + row.query;
      return {row.batch, flat % resolved_.heads, flat / resolved_.heads};
    }
  }
  return row;
}

// A slice has one key head, so tiling key heads happens here.
std::int64_t FaultTrial::key_head(std::int64_t head) const {
  return candidate_.inside == AttentionFault::key_heads_tiled ? head % resolved_.key_heads
                                                              : resolved_.key_head(head);
}

AttentionFault FaultTrial::fault_within_head() const {
  return candidate_.inside == AttentionFault::key_heads_tiled ? AttentionFault::none
                                                              : candidate_.inside;
}

// What the faulty program gives for a single row that sees no key.
void FaultTrial::empty_row(const RowSlice& slice) {
  if (computed_.lse[0] != -kInfinity) return;
  if (candidate_.empty == EmptyRow::nan) {
    std::fill(computed_.output.begin(), computed_.output.end(), std::nan(""));
  } else if (candidate_.empty == EmptyRow::mean_of_values) {
    computed_.output = mean_value(slice.problem());
  }
}

bool FaultTrial::take(std::int64_t index, const QueryRow& place) {
  theirs_.read(place.batch, place.head, place.query, given_.data());
  const auto width = static_cast<std::int64_t>(given_.size());
  const auto first = computed_.output.begin() + index * width;
  row_.assign(first, first + width);
  if (rules_.empty_rows_may_be_nan &&
      computed_.lse[static_cast<std::size_t>(index)] == -kInfinity &&
      std::all_of(given_.begin(), given_.end(), [](double value) { return std::isnan(value); })) {
    return true;
  }
  for (std::size_t e = 0; e < row_.size(); ++e) {
    result_.max_abs = std::max(result_.max_abs, difference(row_[e], given_[e]));
  }
  result_.excess = std::max(result_.excess, row_excess(row_, given_, rules_.tolerance));
  result_.fine = std::max(result_.fine, row_excess(row_, given_, rules_.fine));
  return result_.excess <= 1;
}

bool FaultTrial::can_run(const FaultCandidate& candidate) {
  return candidate.problem.dropout == 0 ||
         (candidate.inside == AttentionFault::none && candidate.mask == MaskChange::none &&
          candidate.empty == EmptyRow::zero);
}

void FaultTrial::compute_whole(const QueryRow& row) {
  computed_.output.resize(given_.size());
  computed_.lse.resize(1);
  attend_oracle_rows(resolved_, {&row, 1}, computed_.output.data(), computed_.lse.data());
}

bool FaultTrial::agrees(const std::vector<QueryRow>& rows) {
  for (const QueryRow& row : rows) {
    const QueryRow source = source_of(row);
    if (resolved_.dropout > 0) {
      compute_whole(source);
      if (!take(0, row)) return false;
      continue;
    }
    RowSlice slice(candidate_.problem, resolved_, {source.batch, source.head, source.query, 1},
                   key_head(source.head));
    if (candidate_.mask == MaskChange::keep_added) slice.keep_becomes_bias();
    if (candidate_.mask == MaskChange::inverted) slice.invert_exclusion();
    oracle_rows(slice.problem(), fault_within_head(), computed_);
    empty_row(slice);
    if (!take(0, row)) return false;
  }
  return true;
}

bool FaultTrial::agrees_on_head(std::int64_t batch, std::int64_t head) {
  const RowSlice slice(candidate_.problem, resolved_, {batch, head, 0, resolved_.queries},
                       key_head(head));
  oracle_rows(slice.problem(), fault_within_head(), computed_);
  for (std::int64_t query = 0; query < resolved_.queries; ++query) {
    if (!take(query, {batch, head, query})) return false;
  }
  return true;
}

}  // namespace volvelle
