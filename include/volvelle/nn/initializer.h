#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/any_generator.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// How the first values of parameters are spread.
enum class Initialization : std::uint8_t {
  torch,         ///< as the constructors of torch.nn do
  xavier,        ///< uniform by rows + columns for every matrix as it lies, biases 0
  depth_scaled,  ///< torch's, with what ends a branch divided by sqrt(2 * layers)
  normal,        ///< normal(0, 0.02), biases 0, what ends a branch divided likewise (GPT-2)
};

/// Matrices of one attention, as they lie: in_proj (H D + 2 G D, C) packed, or q, k, v apart.
/// Absent biases are not drawn.
struct AttentionParameters {
  Variable in_proj_weight = {}, in_proj_bias = {};
  Variable q_weight = {}, k_weight = {}, v_weight = {}, q_bias = {}, k_bias = {}, v_bias = {};
  Variable out_weight = {}, out_bias = {};
};

/// Gives parameters their first values, in the order of the calls; initial_values.h has the rules.
/// Parameters in float64 get the same float32 numbers, widened.
/// Throws:  InvalidArgument for other dtypes, read-only values and matrices that are none.
class VOLVELLE_API Initializer {
 public:
  virtual ~Initializer();
  /// weight (N,K), then bias (N) where there is one.
  virtual void linear(Variable& weight, Variable& bias) = 0;
  /// The same for the layer that ends a branch, whose values some schemes make smaller.
  virtual void branch_end(Variable& weight, Variable& bias) = 0;
  /// PyTorch's order: out_proj as a linear layer (its drawn bias is thrown away), in_proj (or q, k,
  /// v) by Xavier, biases 0. Schemes that are not torch's draw in_proj first, then out_proj. What
  /// out_proj gives ends a branch.
  virtual void attention(AttentionParameters& parameters) = 0;
  virtual void embedding(Variable& table) = 0;
  /// Standard normal numbers, for inputs.
  virtual void normal(Variable& values) = 0;
  /// One that goes on from here on its own, leaving this one where it is: 48 layers drawn once
  /// serve stacks of 12 and 24, each with a clone taken at its depth for what comes after its
  /// layers.
  virtual std::unique_ptr<Initializer> clone() const = 0;
};

struct InitializerOptions {
  Initialization scheme = Initialization::torch;
  RandomStream stream = RandomStream::torch;
  std::uint64_t seed = 0;
  std::int64_t layers = 1;  ///< of the stack, for the schemes that ask
};

/// Throws InvalidArgument for fewer than 1 layer.
VOLVELLE_API std::unique_ptr<Initializer> make_initializer(const InitializerOptions& options);

/// "torch", "xavier", "depth-scaled", "normal".
VOLVELLE_API std::string_view name_of(Initialization scheme) noexcept;

}  // namespace volvelle
