#include "nn/positions/sinusoidal_table.h"

#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[sinusoidal] " + text); }

template <class T>
Tensor filled(Tensor table, const SinusoidalOptions& options, std::int64_t first) {
  const std::int64_t width = table.shape()[1];
  const std::vector<double> frequencies = sinusoidal_frequencies(width, options);
  for (std::int64_t row = 0; row < table.shape()[0]; ++row) {
    sinusoidal_row(first + row, width, frequencies, options, table.data<T>() + row * width);
  }
  return table;
}

}  // namespace

std::vector<double> sinusoidal_frequencies(std::int64_t width, const SinusoidalOptions& options) {
  const bool paper = options.kind == SinusoidalKind::paper;
  if (width < (paper ? 1 : 4)) {
    refuse("width " + std::to_string(width) + " must be at least " +
           (paper ? "1" : "4: fairseq's exponent divides by width / 2 - 1"));
  }
  if (!(options.base > 0) || !std::isfinite(options.base)) {
    refuse("base " + std::to_string(options.base) + " must be a number above 0");
  }
  if (options.offset < 0) {
    refuse("offset " + std::to_string(options.offset) + " must not be negative");
  }
  const std::int64_t count = paper ? (width + 1) / 2 : width / 2;
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<double>(i);
    frequencies.push_back(paper ? std::pow(options.base, -2 * index / static_cast<double>(width))
                                : std::pow(options.base, -index / static_cast<double>(count - 1)));
  }
  return frequencies;
}

Tensor sinusoidal_table(std::int64_t rows, std::int64_t width, const SinusoidalOptions& options,
                        DType dtype, std::int64_t first) {
  if (rows < 0 || first < 0) {
    refuse("rows " + std::to_string(rows) + " from position " + std::to_string(first) +
           ": neither may be negative");
  }
  if (dtype != DType::float32 && dtype != DType::float64) {
    refuse("tables are float32 or float64, not " + std::string(name_of(dtype)));
  }
  sinusoidal_frequencies(width, options);  // refuses what is no width before there is memory for it
  Tensor table(dtype, {rows, width});
  return dtype == DType::float32 ? filled<float>(std::move(table), options, first)
                                 : filled<double>(std::move(table), options, first);
}

}  // namespace volvelle
