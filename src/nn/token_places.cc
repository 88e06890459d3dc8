#include "volvelle/nn/token_places.h"

#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const char* operation, const std::string& text) {
  throw InvalidArgument("[" + std::string(operation) + "] " + text);
}

Tensor integers(const char* operation, const char* name, const View& view) {
  if (!view) refuse(operation, std::string(name) + " are absent");
  if (!is_integer(view.dtype())) {
    refuse(operation, std::string(name) + " are " + std::string(name_of(view.dtype())) +
                          "; they must be integers");
  }
  return converted(view, DType::int64);
}

}  // namespace

Tensor positions_of_rows(const View& lengths, std::int64_t tokens, Padding padding) {
  constexpr const char* kOperation = "positions_of_rows";
  const Tensor real = integers(kOperation, "lengths", lengths);
  if (real.rank() != 1) {
    refuse(kOperation, "lengths " + to_string(real.shape()) + " must be (B): one for each row");
  }
  if (tokens < 0) refuse(kOperation, "T=" + std::to_string(tokens) + " must not be negative");
  Tensor positions = Tensor::zeros(DType::int64, {real.size(), tokens});
  auto* row = positions.data<std::int64_t>();
  for (std::int64_t b = 0; b < real.size(); ++b, row += tokens) {
    const std::int64_t length = real.data<std::int64_t>()[b];
    if (length < 0 || length > tokens) {
      refuse(kOperation, "length " + std::to_string(length) + " of row " + std::to_string(b) +
                             " is not within [0, " + std::to_string(tokens) +
                             "], the tokens of a row");
    }
    const std::int64_t first = padding == Padding::left ? tokens - length : 0;
    for (std::int64_t t = 0; t < length; ++t) row[first + t] = t;
  }
  return positions;
}

Tensor positions_in_segments(const View& segments) {
  constexpr const char* kOperation = "positions_in_segments";
  const Tensor ids = integers(kOperation, "segments", segments);
  if (ids.rank() < 1 || ids.rank() > 2) {
    refuse(kOperation, "segments " + to_string(ids.shape()) + " must be (B,T) or (T)");
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
