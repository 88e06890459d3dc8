#include "io/number_list.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

// The largest magnitude that rounds to a finite value lies half a step above the largest value.
double first_infinite(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return 65520.0;
    case DType::bfloat16:
      return 0x1.FFp127;
    case DType::float32:
      return 0x1.FFFFFFp127;
    default:
      return HUGE_VAL;
  }
}

}  // namespace

bool NumberList::add_boolean(bool value) {
  if (kind_ == Kind::empty) kind_ = Kind::booleans;
  if (kind_ != Kind::booleans) return false;
  integers_.push_back(value ? 1 : 0);
  return true;
}

bool NumberList::add_integer(std::int64_t value) {
  if (kind_ == Kind::reals) return add_real(static_cast<double>(value));
  if (kind_ == Kind::empty) kind_ = Kind::integers;
  if (kind_ != Kind::integers) return false;
  integers_.push_back(value);
  return true;
}

bool NumberList::add_real(double value) {
  if (kind_ == Kind::booleans) return false;
  if (kind_ != Kind::reals) {
    kind_ = Kind::reals;
    reals_.assign(integers_.begin(), integers_.end());
    integers_ = {};
  }
  reals_.push_back(value);
  return true;
}

std::optional<std::size_t> NumberList::first_beyond(DType number_dtype) const {
  const double limit = first_infinite(number_dtype);
  const auto bad = std::find_if(reals_.begin(), reals_.end(), [limit](double value) {
    return std::isfinite(value) && std::fabs(value) >= limit;
  });
  if (bad == reals_.end()) return std::nullopt;
  return static_cast<std::size_t>(bad - reals_.begin());
}

double NumberList::operator[](std::size_t index) const {
  return kind_ == Kind::reals ? reals_[index] : static_cast<double>(integers_[index]);
}

Tensor NumberList::finish(const Shape& shape, DType number_dtype) const {
  switch (kind_) {
    case Kind::booleans:
      return converted(View(integers_.data(), shape), DType::boolean);
    case Kind::integers:
      return copy_of(View(integers_.data(), shape));
    case Kind::reals:
      return converted(View(reals_.data(), shape), number_dtype);
    case Kind::empty:
      break;
  }
  return Tensor(number_dtype, shape);
}

void check_number_dtype(DType dtype) {
  if (!is_floating(dtype)) {
    throw InvalidArgument("[read] number_dtype is " + std::string(name_of(dtype)) +
                          ", expected float32, float64, float16 or bfloat16");
  }
}

}  // namespace volvelle
