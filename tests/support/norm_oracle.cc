#include "support/norm_oracle.h"

#include <cmath>
#include <utility>

namespace volvelle::testing {

NormOracle::NormOracle(bool is_centred, std::vector<double> x_values,
                       std::vector<double> weight_values, std::vector<double> bias_values,
                       double weight_offset, double eps, std::int64_t row_width)
    : centred(is_centred),
      x(std::move(x_values)),
      weight(std::move(weight_values)),
      bias(std::move(bias_values)),
      offset(weight_offset),
      epsilon(eps),
      width(row_width) {
  const auto n = static_cast<std::size_t>(width);
  for (std::size_t first = 0; first < x.size(); first += n) {
    const Row of = row(first);
    for (std::size_t j = 0; j < n; ++j) {
      const double normal = (x[first + j] - of.mean) / std::sqrt(of.variance + epsilon);
      const double more = bias.empty() ? 0 : bias[j];
      y.push_back(normal * factor(j) + more);
      // A mean or spread that is off moves elements by its own size, not by theirs.
      y_terms.push_back((1 + std::fabs(normal)) * std::fabs(factor(j)) + std::fabs(more));
    }
  }
}

NormOracle::Row NormOracle::row(std::size_t first) const {
  Row of{0, 0};
  const auto n = static_cast<double>(width);
  for (std::int64_t j = 0; centred && j < width; ++j) {
    of.mean += x[first + static_cast<std::size_t>(j)] / n;
  }
  for (std::int64_t j = 0; j < width; ++j) {
    const double distance = x[first + static_cast<std::size_t>(j)] - of.mean;
    of.variance += distance * distance / n;
  }
  return of;
}

NormGradients NormOracle::gradients(const std::vector<double>& grad_y) const {
  const auto n = static_cast<std::size_t>(width);
  const auto count = static_cast<double>(width);
  NormGradients grads;
  grads.x.resize(x.size());
  grads.x_terms.resize(x.size());
  for (auto* sums : {&grads.weight, &grads.bias, &grads.weight_terms, &grads.bias_terms}) {
    sums->assign(n, 0);
  }
  for (std::size_t first = 0; first < x.size(); first += n) {
    const Row of = row(first);
    const double rstd = 1 / std::sqrt(of.variance + epsilon);
    double by_variance = 0, by_mean = 0, size = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double distance = x[first + j] - of.mean;
      const double grad = grad_y[first + j] * factor(j);
      grads.weight[j] += grad_y[first + j] * distance * rstd;
      grads.weight_terms[j] += std::fabs(grad_y[first + j]) * (1 + std::fabs(distance) * rstd);
      grads.bias[j] += grad_y[first + j];
      grads.bias_terms[j] += std::fabs(grad_y[first + j]);
      by_variance += grad * distance * -0.5 * rstd * rstd * rstd;
      if (centred) by_mean -= grad * rstd;
      size += std::fabs(grad) * (1 + std::fabs(distance) * rstd) / count;
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double distance = x[first + j] - of.mean;
      const double own = grad_y[first + j] * factor(j);
      grads.x[first + j] = own * rstd + by_variance * 2 * distance / count + by_mean / count;
      grads.x_terms[first + j] = rstd * (std::fabs(own) + size * (1 + std::fabs(distance) * rstd));
    }
  }
  return grads;
}

}  // namespace volvelle::testing
