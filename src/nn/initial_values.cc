#include "volvelle/nn/initial_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const char* operation, const std::string& text) {
  throw InvalidArgument("[" + std::string(operation) + "] " + text);
}

std::span<float> floats_of(const MutableView& view, std::int64_t size) {
  return {static_cast<float*>(view.data()), static_cast<std::size_t>(size)};
}
std::span<double> doubles_of(const MutableView& view, std::int64_t size) {
  return {static_cast<double*>(view.data()), static_cast<std::size_t>(size)};
}

void check_floating(const char* operation, const Variable& parameter) {
  if (parameter.dtype() == DType::float32 || parameter.dtype() == DType::float64) return;
  refuse(operation,
         "a parameter is float32 or float64, not " + std::string(name_of(parameter.dtype())));
}

/// Fills a parameter with what `draw` puts into floats.
template <class Draw>
void fill(const char* operation, Variable& parameter, Draw draw) {
  check_floating(operation, parameter);
  const MutableView view = parameter.change();
  if (parameter.dtype() == DType::float32) return draw(floats_of(view, parameter.size()));
  std::vector<float> drawn(static_cast<std::size_t>(parameter.size()));
  draw(std::span(drawn));
  std::copy(drawn.begin(), drawn.end(), doubles_of(view, parameter.size()).begin());
}

void fill_uniform(const char* operation, Variable& parameter, AnyGenerator& draws, double low,
                  double high) {
  fill(operation, parameter, [&](std::span<float> out) {
    std::visit([&](auto& generator) { generator.uniform(out, low, high); }, draws);
  });
}

void fill_normal(const char* operation, Variable& parameter, AnyGenerator& draws, double mean,
                 double deviation) {
  fill(operation, parameter, [&](std::span<float> out) {
    std::visit([&](auto& generator) { generator.normal(out, mean, deviation); }, draws);
  });
}

struct MatrixSize {
  double rows, columns;
};

MatrixSize matrix_size(const char* operation, const Variable& matrix) {
  if (matrix.rank() != 2 || matrix.size() == 0) {
    refuse(operation, "a matrix (rows, columns) with elements, not " + to_string(matrix.shape()));
  }
  return {static_cast<double>(matrix.shape()[0]), static_cast<double>(matrix.shape()[1])};
}

// The operations of torch.nn.init and their order: another order moves the last bit of a bound.
double xavier_deviation(const MatrixSize& size, double gain) {
  return gain * std::sqrt(2.0 / (size.rows + size.columns));
}

}  // namespace

void uniform_values(Variable& parameter, AnyGenerator& draws, double low, double high) {
  fill_uniform("uniform_values", parameter, draws, low, high);
}

void normal_values(Variable& parameter, AnyGenerator& draws, double mean, double deviation) {
  fill_normal("normal_values", parameter, draws, mean, deviation);
}

void constant_values(Variable& parameter, double value) {
  fill("constant_values", parameter,
       [&](std::span<float> out) { std::fill(out.begin(), out.end(), static_cast<float>(value)); });
}

void scale_values(Variable& parameter, double factor) {
  check_floating("scale_values", parameter);
  const MutableView view = parameter.change();
  if (parameter.dtype() == DType::float32) {
    for (float& value : floats_of(view, parameter.size())) value *= static_cast<float>(factor);
  } else {
    for (double& value : doubles_of(view, parameter.size())) value *= factor;
  }
}

void xavier_uniform_values(Variable& matrix, AnyGenerator& draws, double gain) {
  constexpr const char* kOperation = "xavier_uniform_values";
  const double bound = std::sqrt(3.0) * xavier_deviation(matrix_size(kOperation, matrix), gain);
  fill_uniform(kOperation, matrix, draws, -bound, bound);
}

void xavier_normal_values(Variable& matrix, AnyGenerator& draws, double gain) {
  constexpr const char* kOperation = "xavier_normal_values";
  fill_normal(kOperation, matrix, draws, 0,
              xavier_deviation(matrix_size(kOperation, matrix), gain));
}

void kaiming_uniform_values(Variable& matrix, AnyGenerator& draws, double gain) {
  constexpr const char* kOperation = "kaiming_uniform_values";
  const double deviation = gain / std::sqrt(matrix_size(kOperation, matrix).columns);
  const double bound = std::sqrt(3.0) * deviation;
  fill_uniform(kOperation, matrix, draws, -bound, bound);
}

void kaiming_normal_values(Variable& matrix, AnyGenerator& draws, double gain) {
  constexpr const char* kOperation = "kaiming_normal_values";
  fill_normal(kOperation, matrix, draws, 0,
              gain / std::sqrt(matrix_size(kOperation, matrix).columns));
}

void torch_linear_values(Variable& weight, Variable& bias, AnyGenerator& draws) {
  constexpr const char* kOperation = "torch_linear_values";
  const double columns = matrix_size(kOperation, weight).columns;
  // kaiming_uniform_ with a = sqrt(5), which is 1 / sqrt(in) up to the last bits.
  const double gain = std::sqrt(2.0 / (1 + std::pow(std::sqrt(5.0), 2)));
  const double bound = std::sqrt(3.0) * (gain / std::sqrt(columns));
  fill_uniform(kOperation, weight, draws, -bound, bound);
  if (!bias) return;
  const double bias_bound = 1 / std::sqrt(columns);
  fill_uniform(kOperation, bias, draws, -bias_bound, bias_bound);
}

void torch_embedding_values(Variable& table, AnyGenerator& draws, std::int64_t padding_row) {
  constexpr const char* kOperation = "torch_embedding_values";
  matrix_size(kOperation, table);
  if (padding_row < -1 || padding_row >= table.shape()[0]) {
    refuse(kOperation, "the padding row is one of the table's " + std::to_string(table.shape()[0]) +
                           " or -1 for none, not " + std::to_string(padding_row));
  }
  fill_normal(kOperation, table, draws, 0, 1);
  if (padding_row < 0) return;
  const MutableView view = table.change();
  const std::size_t bytes = static_cast<std::size_t>(table.shape()[1]) * size_of(table.dtype());
  std::fill_n(static_cast<std::byte*>(view.data()) + static_cast<std::size_t>(padding_row) * bytes,
              bytes, std::byte{0});
}

}  // namespace volvelle
