#pragma once

#include <string>
#include <vector>

#include "volvelle/io/arrays.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle::testing {

/// Another program's results by name, from a file below tests/golden. They are float64 numbers.
class GoldenArrays {
 public:
  explicit GoldenArrays(const std::string& file);

  /// An array in a dtype. Throws std::out_of_range, naming it, where there is none.
  Tensor get(const std::string& name, DType dtype) const;

  /// What is wrong with `ours`, empty: nothing. A share of the array's largest number is allowed:
  /// 0 stands for what rounding in the dtype of `ours` explains.
  std::string difference(const std::string& name, const View& ours, double share = 0) const;

 private:
  std::vector<NamedArray> arrays_;
};

}  // namespace volvelle::testing
