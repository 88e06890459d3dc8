#include "cli/position_reach.h"

#include <algorithm>
#include <vector>

#include "cli/view_axes.h"

namespace volvelle::cli {
namespace {

// In row-major order, held to +-kPositionEnd: sums of them and of indices do not overflow.
std::vector<std::int64_t> held(const View& integers) {
  const Tensor copy = converted(integers, DType::int64);
  const auto* const first = copy.data<std::int64_t>();
  std::vector<std::int64_t> values(first, first + copy.size());
  for (std::int64_t& value : values) {
    // Of unsigned ones only what int64 does not hold has become negative.
    if (integers.dtype() == DType::uint64 && value < 0) value = kPositionEnd;
    value = std::clamp(value, -kPositionEnd, kPositionEnd);
  }
  return values;
}

// Integers on (B,N), (1,N) or (N), or the same without N.
class ByRow {
 public:
  ByRow(const View& integers, std::int64_t batch, std::int64_t count) : count_(count) {
    if (!integers || !is_integer(integers.dtype())) return;
    const std::int64_t size = element_count(integers.shape());
    if (size != count && size != batch * count) return;
    shared_ = size == count;
    values_ = held(integers);
    is_given_ = true;
  }

  bool is_given() const { return is_given_; }
  std::int64_t at(std::int64_t row, std::int64_t place) const {
    return values_[static_cast<std::size_t>((shared_ ? 0 : row * count_) + place)];
  }

 private:
  std::int64_t count_;
  bool is_given_ = false, shared_ = false;
  std::vector<std::int64_t> values_;
};

// Where the tokens of a problem stand, and which of them are none.
class Places {
 public:
  explicit Places(const AttentionProblem& problem)
      : batch_(batch_of(problem.q)),
        queries_(tokens_of(problem.q)),
        keys_(tokens_of(problem.k)),
        left_(problem.padding == Padding::left),
        offset_(problem.alignment == Alignment::bottom_right ? keys_ - queries_ : 0),
        offsets_(problem.query_offset, batch_, 1),
        lengths_(problem.key_lengths, batch_, 1),
        query_positions_(problem.query_positions, batch_, queries_),
        key_positions_(problem.key_positions, batch_, keys_) {}

  PositionReach reach() const {
    PositionReach result{.row_lengths = Tensor::zeros(DType::int64, {batch_})};
    for (std::int64_t b = 0; b < batch_; ++b) {
      std::int64_t& length = result.row_lengths.data<std::int64_t>()[b];
      const auto stands = [&](std::int64_t position, bool real) {
        result.positions = std::max(result.positions, position + 1);
        if (real) length = std::max(length, position + 1);
      };
      for (std::int64_t i = 0; i < queries_; ++i) {
        stands(query(b, i), queries_ != keys_ || is_real(b, i));
      }
      for (std::int64_t j = 0; j < keys_; ++j) stands(key(b, j), is_real(b, j));
    }
    return result;
  }

 private:
  std::int64_t query(std::int64_t row, std::int64_t i) const {
    if (query_positions_.is_given()) return query_positions_.at(row, i);
    return i + (offsets_.is_given() ? offsets_.at(row, 0) : offset_);
  }
  std::int64_t key(std::int64_t row, std::int64_t j) const {
    return key_positions_.is_given() ? key_positions_.at(row, j) : j;
  }
  bool is_real(std::int64_t row, std::int64_t j) const {
    if (!lengths_.is_given()) return true;
    const std::int64_t length = lengths_.at(row, 0);
    return left_ ? j >= keys_ - length : j < length;
  }

  std::int64_t batch_, queries_, keys_;
  bool left_;
  std::int64_t offset_;
  ByRow offsets_, lengths_, query_positions_, key_positions_;
};

}  // namespace

PositionReach position_reach(const AttentionProblem& problem) { return Places(problem).reach(); }

std::string position_beyond(const View& positions) {
  if (!is_integer(positions.dtype())) return "";
  const Tensor copy = converted(positions, DType::int64);
  for (std::int64_t i = 0; i < copy.size(); ++i) {
    const std::int64_t value = copy.data<std::int64_t>()[i];
    if (value >= -kPositionEnd && value <= kPositionEnd) continue;
    const bool is_unsigned = positions.dtype() == DType::uint64;
    return is_unsigned ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value);
  }
  return "";
}

}  // namespace volvelle::cli
