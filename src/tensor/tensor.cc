#include "volvelle/tensor/tensor.h"

#include <cstring>
#include <string>

#include "base/reused_blocks.h"
#include "tensor/convert.h"
#include "volvelle/base/error.h"

namespace volvelle {

Tensor::Tensor(DType dtype, const Shape& shape)
    : size_(element_count(shape)), shape_(shape), dtype_(dtype), present_(true) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(size_), size_of(dtype), &bytes)) {
    throw InvalidArgument("[tensor] " + to_string(shape) + " of " + std::string(name_of(dtype)) +
                          " does not fit the address space");
  }
  owner_ = owned_memory(bytes);
  data_ = owner_.get();
  if (data_ == nullptr) {
    throw IoError("[tensor] no memory for " + to_string(shape) + " of " +
                  std::string(name_of(dtype)) + ": " + std::to_string(bytes) + " bytes");
  }
}

Tensor Tensor::zeros(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  std::memset(tensor.data_, 0, tensor.bytes());
  return tensor;
}

Tensor Tensor::adopt(std::shared_ptr<void> owner, void* data, DType dtype, const Shape& shape) {
  Tensor tensor;
  tensor.size_ = element_count(shape);
  tensor.owner_ = std::move(owner);
  tensor.data_ = data;
  tensor.shape_ = shape;
  tensor.dtype_ = dtype;
  tensor.present_ = true;
  return tensor;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (!present_ || element_count(shape) != size_) {
    throw InvalidArgument("[reshape] " + to_string(shape_) + " holds " + std::to_string(size_) +
                          " elements; " + to_string(shape) + " would hold " +
                          std::to_string(element_count(shape)));
  }
  Tensor result = *this;
  result.shape_ = shape;
  return result;
}

void Tensor::check_dtype(DType wanted) const {
  if (wanted != dtype_) {
    throw InvalidArgument("[tensor] elements are " + std::string(name_of(dtype_)) +
                          ", asked for as " + std::string(name_of(wanted)));
  }
}

Tensor copy_of(const View& view) { return converted(view, view.dtype()); }

Tensor converted(const View& view, DType dtype) {
  Tensor result(dtype, view.shape());
  copy_elements(view, result.mutable_view());
  return result;
}

}  // namespace volvelle
