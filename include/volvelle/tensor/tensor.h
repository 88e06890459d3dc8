#pragma once

#include <cstdint>
#include <memory>

#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// An array that owns its bytes: contiguous, row-major, aligned to 64 bytes. Copies share the
/// bytes. A default-constructed tensor is absent.
class VOLVELLE_API Tensor {
 public:
  Tensor() = default;
  /// Uninitialised storage. Throws InvalidArgument for sizes beyond 63 bits and IoError, naming
  /// the size, when the memory cannot be had.
  Tensor(DType dtype, const Shape& shape);
  /// Storage filled with zero bytes.
  static Tensor zeros(DType dtype, const Shape& shape);
  /// Takes part in the ownership of bytes allocated elsewhere (a mapped file, say).
  static Tensor adopt(std::shared_ptr<void> owner, void* data, DType dtype, const Shape& shape);

  explicit operator bool() const noexcept { return present_; }
  DType dtype() const noexcept { return dtype_; }
  int rank() const noexcept { return shape_.rank(); }
  const Shape& shape() const noexcept { return shape_; }
  std::int64_t size() const noexcept { return size_; }  ///< elements
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(size_) * size_of(dtype_); }

  /// Whether another tensor holds the same bytes.
  bool is_shared() const noexcept { return owner_.use_count() > 1; }
  /// The same bytes in another shape of as many elements. Throws InvalidArgument otherwise.
  Tensor reshaped(const Shape& shape) const;

  void* raw() noexcept { return data_; }
  const void* raw() const noexcept { return data_; }
  /// The elements; throws InvalidArgument when T is not the tensor's dtype.
  template <class T>
  T* data() {
    check_dtype(dtype_of<T>);
    return static_cast<T*>(data_);
  }
  template <class T>
  const T* data() const {
    check_dtype(dtype_of<T>);
    return static_cast<const T*>(data_);
  }

  View view() const { return present_ ? View(data_, dtype_, shape_) : View(); }
  MutableView mutable_view() {
    return present_ ? MutableView(data_, dtype_, shape_) : MutableView();
  }

 private:
  void check_dtype(DType wanted) const;

  std::shared_ptr<void> owner_;
  void* data_ = nullptr;
  std::int64_t size_ = 0;
  Shape shape_;
  DType dtype_ = DType::float32;
  bool present_ = false;
};

/// A contiguous copy of any view, its elements unchanged.
VOLVELLE_API Tensor copy_of(const View& view);

/// A contiguous copy whose elements are converted; between floating types with one rounding.
VOLVELLE_API Tensor converted(const View& view, DType dtype);

/// One element as double, at `offset` elements from the view's data. 64-bit integers beyond 2^53
/// are rounded.
VOLVELLE_API double element_as_double(const View& view, std::int64_t offset);

}  // namespace volvelle
