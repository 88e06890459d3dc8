#include "volvelle/nn/positions/learned.h"

#include <numeric>
#include <string>
#include <vector>

#include "nn/parameter.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/embedding.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

constexpr const char* kModule = "learned positions";

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[" + std::string(kModule) + "] " + text);
}

void check_within(const View& positions, std::int64_t rows) {
  if (!positions || !is_integer(positions.dtype())) refuse("positions must be integers");
  const Tensor copy = converted(positions, DType::int64);
  for (std::int64_t i = 0; i < copy.size(); ++i) {
    const std::int64_t position = copy.data<std::int64_t>()[i];
    if (position >= 0 && position < rows) continue;
    refuse("position " + std::to_string(position) + " is outside the table of " +
           std::to_string(rows) + " rows");
  }
}

}  // namespace

LearnedPositions::LearnedPositions(std::int64_t rows, std::int64_t width, DType dtype) {
  check_size(kModule, "rows", rows);
  check_size(kModule, "width", width);
  weight_ = make_parameter(kModule, dtype, {rows, width});
  add_parameter("weight", weight_);
}

Variable LearnedPositions::forward(const Variable& x) const {
  if (x.rank() < 2) refuse("x " + to_string(x.shape()) + " must be (..., T, C)");
  const std::int64_t tokens = x.shape()[x.rank() - 2];
  if (tokens > rows()) {
    refuse(std::to_string(tokens) + " tokens reach beyond the table of " + std::to_string(rows()) +
           " rows: a learned table has no position after its last; shorten the text or train a "
           "longer table");
  }
  std::vector<std::int64_t> places(static_cast<std::size_t>(tokens));
  std::iota(places.begin(), places.end(), 0);
  return add(x, embedding(View(places.data(), {tokens}), weight_));
}

Variable LearnedPositions::forward(const Variable& x, const View& positions) const {
  check_within(positions, rows());
  return add(x, embedding(positions, weight_));
}

void LearnedPositions::initialize(Initializer& initializer) { initializer.embedding(weight_); }

}  // namespace volvelle
