#include "nn/placed_tokens.h"

#include <algorithm>
#include <string>

#include "nn/segment_ids.h"
#include "ops/integer_values.h"

namespace volvelle {
namespace {

constexpr std::int64_t kPositionEnd = std::int64_t{1} << 30;

constexpr OperatorChecks kChecks("token places");

[[noreturn]] void refuse(const std::string& text) { kChecks.refuse(text); }

// One for each token, (B,T), or (T) for all rows.
void check_per_token(const char* name, const View& view, std::int64_t batch, std::int64_t count) {
  const Shape& shape = view.shape();
  const bool fits = (shape.rank() == 1 && shape[0] == count) ||
                    (shape.rank() == 2 && shape[0] == batch && shape[1] == count);
  if (!fits) {
    refuse(std::string(name) + " " + to_string(shape) + " must be (B,T)=(" + std::to_string(batch) +
           "," + std::to_string(count) + ") or (T)");
  }
}

Tensor checked_positions(const View& view, std::int64_t batch, std::int64_t count) {
  if (!view) return {};
  check_per_token("positions", view, batch, count);
  return integer_tensor(kChecks, "positions", view, "one of each token");
}

Tensor checked_segments(const View& view, std::int64_t batch, std::int64_t count) {
  if (!view) return {};
  check_per_token("segments", view, batch, count);
  return segment_ids(kChecks, view);
}

Tensor checked_lengths(const View& view, std::int64_t batch, std::int64_t count) {
  if (!view) return {};
  if (view.rank() != 1 || view.shape()[0] != batch) {
    refuse("lengths " + to_string(view.shape()) + " must be (B)=(" + std::to_string(batch) +
           "): one for each row");
  }
  Tensor lengths = integer_tensor(kChecks, "lengths", view, "the real tokens of each row");
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = lengths.data<std::int64_t>()[b];
    if (length >= 0 && length <= count) continue;
    refuse("length " + std::to_string(length) + " of row " + std::to_string(b) +
           " is not within [0, " + std::to_string(count) + "], the tokens of a row");
  }
  return lengths;
}

}  // namespace

std::int64_t position_bound(const char* name, const View& positions) {
  const Tensor all = integer_tensor(kChecks, name, positions, "one of each token");
  std::int64_t bound = 0;
  for (std::int64_t i = 0; i < all.size(); ++i) {
    const std::int64_t position = all.data<std::int64_t>()[i];
    if (position < 0 || position >= kPositionEnd) {
      refuse(std::string(name) + ": " + std::to_string(position) + " at index " +
             std::to_string(i) + " is not within [0, 2^30)");
    }
    bound = std::max(bound, position + 1);
  }
  return bound;
}

PlacedTokens::PlacedTokens(const TokenPlaces& tokens, std::int64_t batch, std::int64_t count)
    : batch_(batch),
      count_(count),
      padding_(tokens.padding),
      positions_(checked_positions(tokens.positions, batch, count)),
      segments_(checked_segments(tokens.segments, batch, count)),
      lengths_(checked_lengths(tokens.lengths, batch, count)) {
  if (segments_ && !positions_) {
    refuse(
        "segments are given without positions, which would go on from one document to the next; "
        "give positions, those of positions_in_segments(segments) say");
  }
  if (!lengths_ && padding_ != Padding::right) {
    refuse("padding is left, but no lengths say how much of it there is");
  }
  if (!positions_ && lengths_) {
    row_lengths_ = lengths_;
    bound_ = count;
    // With padding on the right a real token's index is its position already.
    if (padding_ == Padding::left) count_real_tokens();
    return;
  }
  if (!positions_) {
    bound_ = count;
    return;
  }
  bound_ = position_bound("positions", positions_.view());
  const std::int64_t rows = positions_.rank() == 2 || lengths_ ? batch : 1;
  row_lengths_ = Tensor::zeros(DType::int64, {rows});
  for (std::int64_t b = 0; b < rows; ++b) {
    const auto* row = positions_.data<std::int64_t>() + (positions_.rank() == 2 ? b * count : 0);
    std::int64_t& length = row_lengths_.data<std::int64_t>()[b];
    for (std::int64_t t = 0; t < count; ++t) {
      if (is_real(b, t)) length = std::max(length, row[t] + 1);
    }
  }
}

// Every real token by its place among those of its row, padding at 0, which every table has.
void PlacedTokens::count_real_tokens() {
  positions_ = positions_of_rows(lengths_.view(), count_, padding_);
  bound_ = position_bound("positions", positions_.view());
}

void PlacedTokens::keep_padding_within(std::optional<std::int64_t> positions) {
  if (lengths_ && !positions_ && positions && bound_ > *positions) count_real_tokens();
}

bool PlacedTokens::is_real(std::int64_t row, std::int64_t token) const {
  if (!lengths_) return true;
  const std::int64_t length = lengths_.data<std::int64_t>()[row];
  return padding_ == Padding::left ? token >= count_ - length : token < length;
}

Tensor PlacedTokens::positions() const {
  if (positions_) return positions_;
  // At padding on the right as well, where nothing reads it, a position that every table has.
  if (lengths_) return positions_of_rows(lengths_.view(), count_, padding_);
  Tensor indices(DType::int64, {count_});
  for (std::int64_t t = 0; t < count_; ++t) indices.data<std::int64_t>()[t] = t;
  return indices;
}

AttentionPlaces PlacedTokens::attention_places() const {
  return {.query_positions = positions_.view(),
          .key_positions = positions_.view(),
          .positions = bound_,
          .row_lengths = row_lengths_.view()};
}

void PlacedTokens::exclude(AttentionProblem& rules) const {
  const auto once = [](const char* name, const View& given) {
    if (given) {
      refuse(std::string(name) +
             " are given twice: as token places and among the rules of attention");
    }
  };
  if (lengths_) {
    once("key_lengths", rules.key_lengths);
    rules.key_lengths = lengths_.view();
    rules.padding = padding_;
  }
  if (segments_) {
    once("query_segments", rules.query_segments);
    once("key_segments", rules.key_segments);
    rules.query_segments = segments_.view();
    rules.key_segments = segments_.view();
  }
}

}  // namespace volvelle
