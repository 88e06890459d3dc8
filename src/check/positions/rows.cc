// Several texts in one batch: padded on either side, or packed into one row.
#include <algorithm>

#include "check/positions/measurements.h"
#include "check/properties/setting.h"
#include "tensor/slice.h"

namespace volvelle::positions {
namespace {

constexpr std::int64_t kTokens = 9;
constexpr std::int64_t kLengths[] = {9, 5, 1};

Tensor list_of(const std::vector<std::int64_t>& numbers) {
  Tensor list(DType::int64, Shape{static_cast<std::int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), list.data<std::int64_t>());
  return list;
}

double padded_error(const PositionSubject& subject, Padding padding) {
  const LanguageModel& model = subject.model();
  const Tensor ids = subject.ids(3, kTokens, 5);
  const Tensor lengths = list_of({kLengths[0], kLengths[1], kLengths[2]});
  const Tensor padded =
      subject.logits(model, ids.view(), {.lengths = lengths.view(), .padding = padding});
  double worst = 0;
  for (std::int64_t row = 0; row < 3; ++row) {
    const std::int64_t length = kLengths[row];
    const std::int64_t first = padding == Padding::left ? kTokens - length : 0;
    const View own = slice(slice(ids.view(), 0, row, 1), 1, first, length);
    const Tensor alone = subject.logits(model, copy_of(own).view());
    const View in_batch = slice(slice(padded.view(), 0, row, 1), 1, first, length);
    worst = std::max(worst, distance(in_batch, alone.view()));
  }
  return worst;
}

}  // namespace

double padding_error(const PositionSubject& subject) {
  return std::max(padded_error(subject, Padding::left), padded_error(subject, Padding::right));
}

double packing_error(const PositionSubject& subject) {
  const LanguageModel& model = subject.model();
  const std::int64_t first = 4;  // of both documents in a row of kTokens
  const Tensor ids = subject.ids(1, kTokens, 6);
  std::vector<std::int64_t> segments(kTokens, 7);
  std::fill(segments.begin(), segments.begin() + first, 3);
  const Tensor segment_ids = list_of(segments).reshaped({1, kTokens});
  const Tensor positions = positions_in_segments(segment_ids.view());
  const Tensor packed = subject.logits(
      model, ids.view(), {.positions = positions.view(), .segments = segment_ids.view()});
  const auto document_error = [&](std::int64_t begin, std::int64_t count) {
    const Tensor own = copy_of(slice(ids.view(), 1, begin, count));
    return distance(slice(packed.view(), 1, begin, count),
                    subject.logits(model, own.view()).view());
  };
  return std::max(document_error(0, first), document_error(first, kTokens - first));
}

}  // namespace volvelle::positions
