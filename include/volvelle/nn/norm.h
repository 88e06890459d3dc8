#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/module.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

enum class NormKind : std::uint8_t { layer, rms };

/// "layer", "rms".
VOLVELLE_API std::string_view name_of(NormKind kind) noexcept;

/// Any norm over the last axis.
class VOLVELLE_API Norm : public Module {
 public:
  /// x (..., C) -> (..., C), in `dtype` (default: x's); statistics in float32 or better.
  virtual Variable forward(const Variable& x, const ForwardOptions& how = {},
                           std::optional<DType> dtype = {}) const = 0;
};

/// Parameters: weight (C) of ones, bias (C) of zeros. PyTorch's torch.nn.LayerNorm.
class VOLVELLE_API LayerNorm : public Norm {
 public:
  /// Throws InvalidArgument for a width below 1 or an epsilon that is negative or not finite.
  explicit LayerNorm(std::int64_t width, double epsilon = 1e-5, DType dtype = DType::float32);
  Variable forward(const Variable& x, const ForwardOptions& how = {},
                   std::optional<DType> dtype = {}) const override;

 private:
  Variable weight_, bias_;
  double epsilon_;
};

/// Parameter: weight (C) of ones. PyTorch's torch.nn.RMSNorm (whose epsilon defaults to the
/// smallest step from 1 of its dtype; here 1e-6).
class VOLVELLE_API RmsNorm : public Norm {
 public:
  explicit RmsNorm(std::int64_t width, double epsilon = 1e-6, DType dtype = DType::float32);
  Variable forward(const Variable& x, const ForwardOptions& how = {},
                   std::optional<DType> dtype = {}) const override;

 private:
  Variable weight_;
  double epsilon_;
};

/// One of a kind; epsilon 0 stands for the kind's own.
VOLVELLE_API std::unique_ptr<Norm> make_norm(NormKind kind, std::int64_t width, double epsilon = 0,
                                             DType dtype = DType::float32);

}  // namespace volvelle
