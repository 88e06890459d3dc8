#include "check/fault_trial.h"

#include <algorithm>

#include "check/attention_rows.h"
#include "check/row_difference.h"

namespace volvelle {

namespace {

// Shapes, scale and offsets of the whole; each slice is checked on its own, and looking through
// all of a large mask once per fault would take longer than the rows do.
ResolvedAttention resolved_without_keep(AttentionProblem problem) {
  problem.keep = View();
  return resolve(problem);
}

}  // namespace

FaultTrial::FaultTrial(const FaultCandidate& candidate, const FourAxes& theirs,
                       const Tolerance& tolerance, const Tolerance& fine)
    : candidate_(candidate),
      theirs_(theirs),
      tolerance_(tolerance),
      fine_(fine),
      resolved_(resolved_without_keep(candidate.problem)),
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

bool FaultTrial::take(const double* row, const QueryRow& place) {
  theirs_.read(place.batch, place.head, place.query, given_.data());
  one_.assign(row, row + given_.size());
  for (std::size_t e = 0; e < one_.size(); ++e) {
    result_.max_abs = std::max(result_.max_abs, difference(one_[e], given_[e]));
  }
  result_.excess = std::max(result_.excess, row_excess(one_, given_, tolerance_));
  result_.fine = std::max(result_.fine, row_excess(one_, given_, fine_));
  return result_.excess <= 1;
}

bool FaultTrial::agrees(const std::vector<QueryRow>& rows) {
  for (const QueryRow& row : rows) {
    const QueryRow source = source_of(row);
    RowSlice slice(candidate_.problem, resolved_, {source.batch, source.head, source.query, 1},
                   key_head(source.head));
    if (candidate_.keep_as_bias) slice.keep_becomes_bias();
    oracle_rows(slice.problem(), fault_within_head(), resolved_.value_width, computed_);
    if (!take(computed_.data(), row)) return false;
  }
  return true;
}

bool FaultTrial::agrees_on_head(std::int64_t batch, std::int64_t head) {
  const RowSlice slice(candidate_.problem, resolved_, {batch, head, 0, resolved_.queries},
                       key_head(head));
  oracle_rows(slice.problem(), fault_within_head(), resolved_.value_width, computed_);
  for (std::int64_t query = 0; query < resolved_.queries; ++query) {
    if (!take(computed_.data() + query * resolved_.value_width, {batch, head, query})) return false;
  }
  return true;
}

}  // namespace volvelle
