#include "volvelle/nn/token_places.h"

#include <string>

#include "nn/segment_ids.h"
#include "ops/integer_values.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kRows("positions_of_rows");
constexpr OperatorChecks kSegments("positions_in_segments");

}  // namespace

Tensor positions_of_rows(const View& lengths, std::int64_t tokens, Padding padding) {
  const Tensor real = integer_tensor(kRows, "lengths", lengths, "the real tokens of each row");
  if (real.rank() != 1) {
    kRows.refuse("lengths " + to_string(real.shape()) + " must be (B): one for each row");
  }
  if (tokens < 0) kRows.refuse("T=" + std::to_string(tokens) + " must not be negative");
  Tensor positions = Tensor::zeros(DType::int64, {real.size(), tokens});
  auto* row = positions.data<std::int64_t>();
  for (std::int64_t b = 0; b < real.size(); ++b, row += tokens) {
    const std::int64_t length = real.data<std::int64_t>()[b];
    if (length < 0 || length > tokens) {
      kRows.refuse("length " + std::to_string(length) + " of row " + std::to_string(b) +
                   " is not within [0, " + std::to_string(tokens) + "], the tokens of a row");
    }
    const std::int64_t first = padding == Padding::left ? tokens - length : 0;
    for (std::int64_t t = 0; t < length; ++t) row[first + t] = t;
  }
  return positions;
}

Tensor positions_in_segments(const View& segments) {
  const Tensor ids = segment_ids(kSegments, segments);
  if (ids.rank() < 1 || ids.rank() > 2) {
    kSegments.refuse("segments " + to_string(ids.shape()) + " must be (B,T) or (T)");
  }
  Tensor positions(DType::int64, ids.shape());
  const std::int64_t tokens = ids.shape()[ids.rank() - 1];
  const auto* id = ids.data<std::int64_t>();
  auto* position = positions.data<std::int64_t>();
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    const bool goes_on = i % tokens != 0 && id[i] == id[i - 1];
    position[i] = goes_on ? position[i - 1] + 1 : 0;
  }
  return positions;
}

}  // namespace volvelle
