#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// How the first values of parameters are spread.
enum class Initialization : std::uint8_t {
  torch,         ///< as the constructors of torch.nn do
  xavier,        ///< uniform by rows + columns for every matrix, biases 0
  depth_scaled,  ///< torch's, with what ends a branch divided by sqrt(2 * layers)
  normal,        ///< normal(0, 0.02), what ends a branch divided by sqrt(2 * layers) (GPT-2)
};

/// Which generator the numbers come from.
enum class RandomStream : std::uint8_t { torch, numpy, philox };

/// Matrices of one attention, as they lie: in_proj (H D + 2 G D, C) packed, or q, k, v apart.
/// Absent biases are not drawn.
struct AttentionParameters {
  Variable in_proj_weight, in_proj_bias;
  Variable q_weight, k_weight, v_weight, q_bias, k_bias, v_bias;
  Variable out_weight, out_bias;
};

/// Gives parameters their first values, in the order of the calls.
class VOLVELLE_API Initializer {
 public:
  virtual ~Initializer();
  /// weight (N,K), then bias (N) where there is one.
  virtual void linear(Variable& weight, Variable& bias) = 0;
  /// The same for the layer that ends a branch, whose values some schemes make smaller.
  virtual void branch_end(Variable& weight, Variable& bias) = 0;
  /// PyTorch's order: out_proj as a linear layer (its drawn bias is thrown away), in_proj by
  /// Xavier, biases 0.
  virtual void attention(AttentionParameters& parameters) = 0;
  virtual void embedding(Variable& table) = 0;
  /// Standard normal numbers, for inputs.
  virtual void normal(Variable& values) = 0;
  /// One that goes on from here on its own, leaving this one where it is.
  virtual std::unique_ptr<Initializer> clone() const = 0;
};

struct InitializerOptions {
  Initialization scheme = Initialization::torch;
  RandomStream stream = RandomStream::torch;
  std::uint64_t seed = 0;
  std::int64_t layers = 1;   ///< of the stack, for the schemes that ask
  double branch_factor = 1;  ///< further factor on what ends a branch (DeepNorm's beta)
};

VOLVELLE_API std::unique_ptr<Initializer> make_initializer(const InitializerOptions& options);

VOLVELLE_API std::string_view name_of(Initialization scheme) noexcept;
VOLVELLE_API std::string_view name_of(RandomStream stream) noexcept;

}  // namespace volvelle
