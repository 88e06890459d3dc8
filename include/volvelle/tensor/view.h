#pragma once

#include <cstdint>
#include <type_traits>

#include "volvelle/base/export.h"
#include "volvelle/tensor/dtype.h"
#include "volvelle/tensor/shape.h"

namespace volvelle {

/// Where an array's bytes live. Only the host for now; the field keeps DLPack within reach.
enum class Device : std::uint8_t { cpu };

namespace detail {

/// What View and MutableView share: pointer, dtype, shape, strides in elements (zero and negative
/// ones are legal), device. A default-constructed view is absent.
template <class Pointer>
class BasicView {
 public:
  BasicView() = default;
  BasicView(Pointer data, DType dtype, const Shape& shape)
      : BasicView(data, dtype, shape, contiguous_strides(shape)) {}
  BasicView(Pointer data, DType dtype, const Shape& shape, const Strides& strides)
      : data_(data), shape_(shape), strides_(strides), dtype_(dtype), present_(true) {}

  explicit operator bool() const noexcept { return present_; }  ///< false: no array was given
  Pointer data() const noexcept { return data_; }
  DType dtype() const noexcept { return dtype_; }
  Device device() const noexcept { return Device::cpu; }
  int rank() const noexcept { return shape_.rank(); }
  const Shape& shape() const noexcept { return shape_; }
  const Strides& strides() const noexcept { return strides_; }

 private:
  Pointer data_ = nullptr;
  Shape shape_;
  Strides strides_;
  DType dtype_ = DType::float32;
  bool present_ = false;
};

}  // namespace detail

/// A strided array somebody else owns, to be written.
class MutableView : public detail::BasicView<void*> {
 public:
  using BasicView::BasicView;
  template <class T>
    requires(!std::is_const_v<T> && !std::is_void_v<T>)
  MutableView(T* data, const Shape& shape) : BasicView(data, dtype_of<T>, shape) {}
  template <class T>
    requires(!std::is_const_v<T> && !std::is_void_v<T>)
  MutableView(T* data, const Shape& shape, const Strides& strides)
      : BasicView(data, dtype_of<T>, shape, strides) {}
};

/// A strided array somebody else owns, read only.
class View : public detail::BasicView<const void*> {
 public:
  using BasicView::BasicView;
  template <class T>
    requires(!std::is_void_v<T>)
  View(const T* data, const Shape& shape) : BasicView(data, dtype_of<T>, shape) {}
  template <class T>
    requires(!std::is_void_v<T>)
  View(const T* data, const Shape& shape, const Strides& strides)
      : BasicView(data, dtype_of<T>, shape, strides) {}
  View(const MutableView& view)  // NOLINT: writing implies reading
      : View(view ? View(view.data(), view.dtype(), view.shape(), view.strides()) : View()) {}
};

}  // namespace volvelle
