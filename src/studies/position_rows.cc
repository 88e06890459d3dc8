#include "studies/position_rows.h"

#include <cmath>
#include <numeric>

#include "volvelle/autograd/no_grad.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

std::vector<double> PositionRows::row(std::int64_t row) const {
  const auto begin = values.begin() + row * width;
  return {begin, begin + width};
}

PositionRows literal_sinusoids(std::int64_t rows, std::int64_t width, double base) {
  PositionRows table{rows, width, std::vector<double>(static_cast<std::size_t>(rows * width))};
  for (std::int64_t p = 0; p < rows; ++p) {
    for (std::int64_t i = 0; i < width / 2; ++i) {
      const double angle = static_cast<double>(p) / std::pow(base, 2.0 * static_cast<double>(i) /
                                                                       static_cast<double>(width));
      const auto at = static_cast<std::size_t>(p * width + 2 * i);
      table.values[at] = std::sin(angle);
      table.values[at + 1] = std::cos(angle);
    }
  }
  return table;
}

PositionRows added_rows(const std::string& scheme, std::int64_t rows, std::int64_t width,
                        std::int64_t first) {
  const NoGrad off;
  const auto positions = make_positions(scheme, {.width = width, .heads = 1, .head_width = width});
  std::vector<std::int64_t> places(static_cast<std::size_t>(rows));
  std::iota(places.begin(), places.end(), first);
  const Variable tokens(Tensor::zeros(DType::float32, Shape{1, rows, width}));
  const Variable added = positions->add_to_tokens(tokens, View(places.data(), Shape{rows}));
  const float* values = added.value().data<float>();
  return {rows, width, {values, values + rows * width}};
}

}  // namespace volvelle
