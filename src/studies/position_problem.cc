#include "studies/position_problem.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "volvelle/base/torch_generator.h"

namespace volvelle {

PositionProblem draw_position_problem(std::int64_t tokens, std::int64_t width, std::uint64_t seed) {
  TorchGenerator random(seed);
  const auto draw = [&](std::int64_t rows, float factor) {
    Tensor drawn(DType::float32, Shape{rows, width});
    const std::span<float> values(drawn.data<float>(), static_cast<std::size_t>(drawn.size()));
    random.normal(values);
    for (float& value : values) value *= factor;
    return drawn;
  };
  PositionProblem problem;
  problem.to_query = draw(width, 0.4f);
  problem.to_key = draw(width, 0.4f);
  problem.to_value = draw(width, 0.4f);
  problem.x = draw(tokens, 1.0f);
  return problem;
}

Tensor product_of(const Tensor& a, const Tensor& b) {
  const std::int64_t rows = a.shape()[0], inner = a.shape()[1], columns = b.shape()[1];
  Tensor result(DType::float32, Shape{rows, columns});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        sum += static_cast<double>(a.data<float>()[i * inner + k]) *
               static_cast<double>(b.data<float>()[k * columns + j]);
      }
      result.data<float>()[i * columns + j] = static_cast<float>(sum);
    }
  }
  return result;
}

Tensor rows_in_order(const Tensor& rows, const std::vector<std::int64_t>& order) {
  Tensor result(DType::float32, rows.shape());
  const std::int64_t width = rows.shape()[1];
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::copy_n(rows.data<float>() + order[i] * width, width,
                result.data<float>() + static_cast<std::int64_t>(i) * width);
  }
  return result;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double worst = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(a.data<float>()[i]) -
                                      static_cast<double>(b.data<float>()[i])));
  }
  return worst;
}

}  // namespace volvelle
