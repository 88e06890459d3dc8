#include "studies/rotary_by_hand.h"

#include <cmath>

#include "attention/turned_heads.h"

namespace volvelle {

std::vector<double> turned_by_library(const std::vector<double>& numbers,
                                      const std::vector<double>& angles, RotaryPairing pairing) {
  const auto count = static_cast<std::int64_t>(angles.size());
  Tensor cosines(DType::float64, Shape{1, count}), sines(DType::float64, Shape{1, count});
  for (std::int64_t i = 0; i < count; ++i) {
    cosines.data<double>()[i] = std::cos(angles[static_cast<std::size_t>(i)]);
    sines.data<double>()[i] = std::sin(angles[static_cast<std::size_t>(i)]);
  }
  const Tensor positions = Tensor::zeros(DType::int64, Shape{1});
  const auto width = static_cast<std::int64_t>(numbers.size());
  const Tensor turned = turned_heads(View(numbers.data(), Shape{1, 1, 1, width}), cosines, sines,
                                     pairing, positions, 1);
  const double* values = turned.data<double>();
  return {values, values + width};
}

std::vector<double> rotate_half(const std::vector<double>& numbers) {
  const std::size_t half = numbers.size() / 2;
  std::vector<double> result;
  for (std::size_t i = half; i < numbers.size(); ++i) result.push_back(-numbers[i]);
  for (std::size_t i = 0; i < half; ++i) result.push_back(numbers[i]);
  return result;
}

std::vector<double> turned_by_formula(const std::vector<double>& numbers,
                                      const std::vector<double>& angles) {
  const std::vector<double> half = rotate_half(numbers);
  std::vector<double> result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double angle = angles[i % angles.size()];
    result.push_back(numbers[i] * std::cos(angle) + half[i] * std::sin(angle));
  }
  return result;
}

std::vector<double> turned_by_matrices(const std::vector<double>& numbers,
                                       const std::vector<double>& angles) {
  std::vector<double> result(numbers.size());
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const double a = numbers[i], b = numbers[i + angles.size()];
    const double matrix[2][2] = {{std::cos(angles[i]), -std::sin(angles[i])},
                                 {std::sin(angles[i]), std::cos(angles[i])}};
    result[i] = matrix[0][0] * a + matrix[0][1] * b;
    result[i + angles.size()] = matrix[1][0] * a + matrix[1][1] * b;
  }
  return result;
}

double length_of(const std::vector<double>& numbers) {
  double squares = 0;
  for (const double number : numbers) squares += number * number;
  return std::sqrt(squares);
}

}  // namespace volvelle
