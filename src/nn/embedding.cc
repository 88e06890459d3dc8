#include "volvelle/nn/embedding.h"

#include "nn/parameter.h"
#include "volvelle/ops/embedding.h"

namespace volvelle {

Embedding::Embedding(std::int64_t rows, std::int64_t width, DType dtype) {
  check_size("embedding", "rows", rows);
  check_size("embedding", "width", width);
  weight_ = make_parameter("embedding", dtype, {rows, width});
  add_parameter("weight", weight_);
}

Variable Embedding::forward(const View& ids) const { return embedding(ids, weight_); }

void Embedding::initialize(Initializer& initializer) { initializer.embedding(weight_); }

}  // namespace volvelle
