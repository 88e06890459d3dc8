#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/positions/scheme.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// A learned vector for each absolute position, added to the token vectors. Parameter: weight
/// (rows, C).
class VOLVELLE_API LearnedPositions : public PositionScheme {
 public:
  /// Throws InvalidArgument unless both sizes are positive and the table fits in memory.
  LearnedPositions(std::int64_t rows, std::int64_t width, DType dtype = DType::float32);

  PositionFacts facts() const override;

  /// x (B,T,C) with token t at position t. Throws InvalidArgument where T is beyond the table,
  /// with the table's length.
  Variable forward(const Variable& x) const;
  /// The same with explicit positions, integers (B,T) or (T).
  Variable forward(const Variable& x, const View& positions) const;
  Variable add_to_tokens(const Variable& x, const View& positions) const override;

  void initialize(Initializer& initializer) override;

  std::int64_t rows() const { return weight_.shape()[0]; }
  const Variable& weight() const noexcept { return weight_; }

 private:
  Variable weight_;
};

}  // namespace volvelle
