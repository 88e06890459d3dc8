#include "cli/projection.h"

#include <vector>

#include "cli/verb.h"

namespace volvelle::cli {

Tensor projected(const Tensor& x, const Tensor& weight, std::int64_t heads, bool head_axis,
                 const char* name) {
  const std::string shapes =
      " (x " + to_string(x.shape()) + ", " + name + ' ' + to_string(weight.shape()) + ")";
  if (x.rank() != 2 && x.rank() != 3) {
    throw UsageError("--x must be (T,C) or (B,T,C), one row of numbers per token" + shapes);
  }
  const int rank = x.rank();
  const std::int64_t batch = rank == 3 ? x.shape()[0] : 1;
  const std::int64_t tokens = x.shape()[rank - 2];
  const std::int64_t inner = x.shape()[rank - 1];
  if (weight.rank() != 2 || weight.shape()[0] != inner) {
    throw UsageError(std::string("--") + name +
                     " must have one row per column of x, C=" + std::to_string(inner) + shapes);
  }
  const std::int64_t columns = weight.shape()[1];
  if (columns % heads != 0 || columns == 0) {
    throw UsageError("the " + std::to_string(columns) + " columns of --" + name +
                     " do not split into " + std::to_string(heads) + " heads" + shapes);
  }
  const std::int64_t width = columns / heads;
  Shape shape = rank == 3   ? Shape{batch, heads, tokens, width}
                : head_axis ? Shape{heads, tokens, width}
                            : Shape{tokens, width};
  Tensor result(DType::float64, shape);
  double* out = result.data<double>();
  const Tensor left = converted(x.view(), DType::float64);
  const Tensor right = converted(weight.view(), DType::float64);
  const double* rows = left.data<double>();
  const double* factors = right.data<double>();
  std::vector<double> sums(static_cast<std::size_t>(columns));
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::int64_t c = 0; c < inner; ++c) {
        const double factor = rows[(b * tokens + t) * inner + c];
        for (std::int64_t j = 0; j < columns; ++j) {
          sums[static_cast<std::size_t>(j)] += factor * factors[c * columns + j];
        }
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        out[((b * heads + j / width) * tokens + t) * width + j % width] =
            sums[static_cast<std::size_t>(j)];
      }
    }
  }
  return converted(result.view(), x.dtype());
}

}  // namespace volvelle::cli
