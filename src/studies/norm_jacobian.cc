#include "studies/norm_jacobian.h"

#include <cmath>
#include <utility>

#include "studies/gradient_arrays.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/ops/norms.h"

namespace volvelle {
namespace {

// The norm of the part of all rows of `gradient` that lies along the rows of `direction` (absent:
// along (1, ..., 1)), over the norm of the whole.
double part_along(const Tensor& gradient, const Tensor& direction) {
  const std::int64_t width = gradient.shape()[gradient.rank() - 1];
  const auto* g = gradient.data<float>();
  const float* d = direction ? direction.data<float>() : nullptr;
  double along = 0;
  double whole = 0;
  for (std::int64_t row = 0; row < gradient.size() / width; ++row) {
    double product = 0;
    double length = 0;
    for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
      const double towards = d != nullptr ? static_cast<double>(d[i]) : 1.0;
      product += static_cast<double>(g[i]) * towards;
      length += towards * towards;
      whole += static_cast<double>(g[i]) * static_cast<double>(g[i]);
    }
    if (length > 0) along += product * product / length;
  }
  return std::sqrt(along / whole);
}

double spread_of_rows(NormKind kind, const Tensor& x) {
  const std::int64_t width = x.shape()[x.rank() - 1];
  const auto* value = x.data<float>();
  double sum = 0;
  for (std::int64_t row = 0; row < x.size() / width; ++row) {
    double mean = 0;
    for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
      if (kind == NormKind::layer)
        mean += static_cast<double>(value[i]) / static_cast<double>(width);
    }
    for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
      const double from_mean = static_cast<double>(value[i]) - mean;
      sum += from_mean * from_mean;
    }
  }
  return std::sqrt(sum / static_cast<double>(x.size()));
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  Tensor sum = copy_of(a.view());
  auto* to = sum.data<float>();
  const auto* from = b.data<float>();
  for (std::int64_t i = 0; i < sum.size(); ++i) to[i] += from[i];
  return sum;
}

}  // namespace

NormJacobian norm_jacobian(NormKind kind, const Tensor& stream, const Tensor& branch,
                           const Tensor& gradient) {
  const Variable x(sum_of(stream, branch), true);
  const Variable y = kind == NormKind::layer ? layer_norm(x, {}, {}) : rms_norm(x, {});
  backward(y, gradient.view());
  const Tensor behind = x.grad();
  const auto length = [](const Tensor& t) { return std::sqrt(inner_product(t.view(), t.view())); };
  NormJacobian found;
  found.spread = spread_of_rows(kind, x.value());
  found.passed = length(behind) / length(gradient);
  found.mean_before = part_along(gradient, {});
  found.mean_behind = part_along(behind, {});
  found.along_before = part_along(gradient, y.value());
  found.along_behind = part_along(behind, y.value());
  return found;
}

}  // namespace volvelle
