#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "volvelle/nn/module.h"
#include "volvelle/nn/stack.h"

namespace volvelle::testing {

/// Rows of numbers: the tokens of one sequence.
using Rows = std::vector<std::vector<double>>;

/// Sublayers and norms of one block by loops in double, written from the formulas and from
/// parameters by name, for one sequence of tokens.
class PlainBlock {
 public:
  /// `prefix` is that of the block's parameters: "layers.0.".
  PlainBlock(const StackOptions& options, const Module& module, std::string prefix);

  Rows attention(const Rows& x, const std::string& name = "self_attn") const;
  Rows feed_forward(const Rows& x) const;
  Rows norm(int number, const Rows& x) const;  ///< norm1, norm2, ...
  Rows named_norm(const std::string& name, const Rows& x) const;

 private:
  const std::vector<double>& parameter(const std::string& name) const;
  bool has(const std::string& name) const { return parameters_.contains(prefix_ + name); }
  Rows linear(const Rows& x, const std::string& weight, const std::string& bias, std::int64_t first,
              std::int64_t count) const;

  StackOptions options_;
  std::map<std::string, std::vector<double>> parameters_;
  std::string prefix_;
};

/// a * x + b * y.
Rows mixed(double a, const Rows& x, double b, const Rows& y);

/// Fills every parameter with uniform numbers in [-0.5, 0.5), those of norms' weights around 1:
/// nothing is at a value that hides it.
void fill_parameters(const Module& module, std::uint64_t seed);

}  // namespace volvelle::testing
