#include "studies/unit_branches.h"

#include <cmath>
#include <variant>

namespace volvelle {
namespace {

double length_of(const std::vector<double>& vector) {
  double squares = 0;
  for (const double x : vector) squares += x * x;
  return std::sqrt(squares);
}

std::vector<double> unit_vector(AnyGenerator& random, std::int64_t width) {
  std::vector<double> vector(static_cast<std::size_t>(width));
  std::visit([&](auto& generator) { generator.normal(std::span<double>(vector)); }, random);
  const double length = length_of(vector);
  for (double& x : vector) x /= length;
  return vector;
}

}  // namespace

StreamLengths add_unit_branches(AnyGenerator random, std::int64_t layers, std::int64_t width,
                                AfterAdding after) {
  StreamLengths lengths;
  std::vector<double> stream = unit_vector(random, width);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::vector<double> branch = unit_vector(random, width);
    for (std::size_t i = 0; i < stream.size(); ++i) stream[i] += branch[i];
    const double sum = length_of(stream);
    lengths.share.push_back(1 / sum);
    if (after == AfterAdding::back_to_one) {
      for (double& x : stream) x /= sum;
    }
    lengths.length.push_back(after == AfterAdding::back_to_one ? 1 : sum);
  }
  return lengths;
}

}  // namespace volvelle
