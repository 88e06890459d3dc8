#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/module.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// A vector for each id. Parameter: weight (rows, C). PyTorch's torch.nn.Embedding.
class VOLVELLE_API Embedding : public Module {
 public:
  /// Throws InvalidArgument unless both sizes are positive.
  Embedding(std::int64_t rows, std::int64_t width, DType dtype = DType::float32);

  /// ids (...) -> (..., C). Throws InvalidArgument for an id outside the table.
  Variable forward(const View& ids) const;
  void initialize(Initializer& initializer);

  const Variable& weight() const noexcept { return weight_; }

 private:
  Variable weight_;
};

}  // namespace volvelle
