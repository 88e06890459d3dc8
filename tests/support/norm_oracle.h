#pragma once

#include <cstdint>
#include <vector>

namespace volvelle::testing {

struct NormGradients {
  std::vector<double> x, weight, bias;
  std::vector<double> x_terms, weight_terms, bias_terms;  ///< what bounds the terms of each
};

/// LayerNorm and RMSNorm in double, from the formulas. Gradients go by way of those of variance
/// and mean, one after the other.
struct NormOracle {
  bool centred;
  std::vector<double> x, weight, bias;  ///< weight and bias: empty for none
  double offset, epsilon;
  std::int64_t width;
  std::vector<double> y, y_terms;

  NormOracle(bool centred, std::vector<double> x, std::vector<double> weight,
             std::vector<double> bias, double offset, double epsilon, std::int64_t width);
  NormGradients gradients(const std::vector<double>& grad_y) const;

 private:
  struct Row {
    double mean, variance;
  };
  Row row(std::size_t first) const;
  double factor(std::size_t j) const { return weight.empty() ? 1 : offset + weight[j]; }
};

}  // namespace volvelle::testing
