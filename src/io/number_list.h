#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The entries of one array of text, in order, as they come: whether it is an array of booleans, of
/// integers or of other numbers is known at its end only.
class NumberList {
 public:
  /// False when booleans and numbers would mix; then nothing was added.
  bool add_boolean(bool value);
  bool add_integer(std::int64_t value);
  bool add_real(double value);

  std::size_t size() const { return kind_ == Kind::reals ? reals_.size() : integers_.size(); }

  /// The first finite number that would become infinite in `number_dtype`, if any.
  std::optional<std::size_t> first_beyond(DType number_dtype) const;
  double operator[](std::size_t index) const;

  /// Booleans as bool, integers as int64, all else (and an empty list) as `number_dtype`.
  Tensor finish(const Shape& shape, DType number_dtype) const;

 private:
  enum class Kind { empty, booleans, integers, reals };

  Kind kind_ = Kind::empty;
  std::vector<std::int64_t> integers_;
  std::vector<double> reals_;
};

/// Throws InvalidArgument unless `dtype` is a floating type.
void check_number_dtype(DType dtype);

}  // namespace volvelle
