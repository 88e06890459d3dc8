#include "nn/scale_rows.h"

namespace volvelle {
namespace {

template <class T>
void multiply(T* values, std::int64_t count, double factor) {
  for (std::int64_t i = 0; i < count; ++i) values[i] *= static_cast<T>(factor);
}

}  // namespace

void scale_rows(Variable& parameter, std::int64_t first, std::int64_t count, double factor) {
  const std::int64_t row = parameter.size() / parameter.shape()[0];
  const MutableView view = parameter.change();
  if (view.dtype() == DType::float64) {
    multiply(static_cast<double*>(view.data()) + first * row, count * row, factor);
  } else {
    multiply(static_cast<float*>(view.data()) + first * row, count * row, factor);
  }
}

}  // namespace volvelle
