#include "volvelle/measure/matmul_bench.h"

#include <cstring>
#include <string>

#include "measure/positive_lengths.h"
#include "measure/random_array.h"
#include "measure/rotation.h"
#include "measure/sampled_products.h"
#include "measure/timed_calls.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/linear.h"

namespace volvelle {
namespace {

// The same weights, packed into different places.
std::vector<PackedWeights> packed_sets(const Tensor& weights, const MatmulCase& shape,
                                       const MeasureOptions& options) {
  const PackOptions how{.threads = options.threads};
  std::vector<PackedWeights> sets{PackedWeights(weights.view(), how)};
  if (!shape.cold_weights) return sets;
  const std::size_t count = sets_in_rotation(sets[0].bytes(), options.cold_bytes);
  while (sets.size() < count) sets.emplace_back(weights.view(), how);
  return sets;
}

}  // namespace

double matmul_operations(const MatmulCase& shape) {
  return 2 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k);
}

MatmulFigures measure_matmul(const MatmulCase& shape, const MeasureOptions& options) {
  check_positive({{"m", shape.m}, {"n", shape.n}, {"k", shape.k}});
  const Tensor x = random_array(shape.dtype, {shape.m, shape.k}, 1);
  const Tensor weights = random_array(shape.dtype, {shape.n, shape.k}, 2);
  Tensor y = Tensor::zeros(shape.dtype, {shape.m, shape.n});
  LinearOptions how;
  how.threads = options.threads;
  const std::vector<PackedWeights> sets = packed_sets(weights, shape, options);
  std::size_t next = 0;
  const auto product = [&] {
    linear(x.view(), sets[next], y.mutable_view(), how);
    next = next + 1 == sets.size() ? 0 : next + 1;
  };

  product();
  const double error = check_sampled_products(x, weights, y);
  const Tensor checked = copy_of(y.view());
  for (std::size_t set = 1; set < sets.size(); ++set) {
    product();
    if (std::memcmp(checked.raw(), y.raw(), y.bytes()) != 0) {
      throw InternalError("[bench] the same weights packed again gave other bits (set " +
                          std::to_string(set) + "); please report this");
    }
  }
  const auto bytes = static_cast<double>(sets[0].bytes());
  MatmulFigures figures{time_calls({.call = product,
                                    .operations = matmul_operations(shape),
                                    .bytes = shape.cold_weights ? bytes : 0,
                                    .dtype = shape.dtype},
                                   options),
                        shape};
  figures.max_error = error;
  if (shape.cold_weights) figures.cold_bytes = sets.size() * sets[0].bytes();
  return figures;
}

const std::vector<MatmulCase>& matmul_cases() {
  static const std::vector<MatmulCase> cases = [] {
    std::vector<MatmulCase> all;
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      for (const std::int64_t side : {256, 512, 1024, 2048}) {
        all.push_back({.dtype = dtype, .m = side, .n = side, .k = side});
      }
      all.push_back({.dtype = dtype, .m = 1, .n = 3072, .k = 768, .cold_weights = true});
      all.push_back({.dtype = dtype, .m = 8, .n = 3072, .k = 768});
      all.push_back({.dtype = dtype, .m = 32, .n = 3072, .k = 768});
      all.push_back({.dtype = dtype, .m = 128, .n = 768, .k = 768});
      for (const std::int64_t rows : {128, 2048}) {
        all.push_back({.dtype = dtype, .m = rows, .n = 3072, .k = 768});
        all.push_back({.dtype = dtype, .m = rows, .n = 768, .k = 3072});
      }
    }
    return all;
  }();
  return cases;
}

}  // namespace volvelle
