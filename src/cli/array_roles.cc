#include "cli/array_roles.h"

#include <cmath>

#include "cli/verb.h"
#include "cli/view_axes.h"

namespace volvelle::cli {
namespace {

// The element that is no whole number, if there is one.
std::optional<double> first_fraction(const Tensor& array) {
  const View view = array.view();
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double value = element_as_double(view, i);
    if (!(std::fabs(value) <= 9007199254740992.0) || value != std::floor(value)) return value;
  }
  return std::nullopt;
}

std::string kind_of(const SourcedArray& source) {
  return source.from + " is " + std::string(name_of(source.array.dtype())) + ' ' +
         to_string(source.array.shape());
}

}  // namespace

bool is_binary_file(const std::string& path) {
  return path.ends_with(".npy") || path.ends_with(".npz") || path.ends_with(".safetensors");
}

SourcedArray array_of_option(const std::string& option, const std::string& text) {
  const bool numbers = text.find_first_of("0123456789") != std::string::npos &&
                       text.find_first_not_of("0123456789+-.eEinfa,; \t") == std::string::npos;
  if (numbers) return {parse_inline(text, kReadText), option, true};
  return {read_array(text, kReadText), option + " " + text, !is_binary_file(text)};
}

Tensor as_values(const SourcedArray& source, const std::optional<DType>& dtype) {
  const DType own = source.array.dtype();
  if (!source.text && !dtype && !is_floating(own)) {
    throw UsageError(kind_of(source) +
                     "; attention computes in floating types: --dtype float32 converts it");
  }
  const DType wanted = dtype.value_or(source.text ? DType::float32 : own);
  return wanted == own ? source.array : converted(source.array.view(), wanted);
}

Tensor as_bias(const SourcedArray& source, const std::optional<DType>& dtype) {
  if (!source.text) return source.array;
  const DType wanted = dtype == DType::float64 ? DType::float64 : DType::float32;
  return wanted == source.array.dtype() ? source.array : converted(source.array.view(), wanted);
}

Tensor as_integers(const SourcedArray& source) {
  if (!source.text || !is_floating(source.array.dtype())) return source.array;
  if (const auto fraction = first_fraction(source.array)) {
    throw UsageError(source.from + " holds " + std::to_string(*fraction) +
                     ", which is no whole number");
  }
  return converted(source.array.view(), DType::int64);
}

Tensor as_mask(const SourcedArray& source) {
  if (!is_floating(source.array.dtype())) return source.array;
  throw UsageError(kind_of(source) + ", a floating mask: that is an additive bias, so give it as " +
                   "bias (--bias); keep takes bool, or whole numbers 1 (seen) and 0 (excluded)");
}

Tensor as_list(const Tensor& array) {
  const bool row = array.rank() == 2 && array.shape()[0] == 1;
  if (array.rank() != 0 && !row) return array;
  return reshaped(array, Shape{array.size()});
}

DType dtype_named(const std::string& name) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    if (name_of(dtype) == name) return dtype;
  }
  throw UsageError("unknown dtype '" + name + "'");
}

}  // namespace volvelle::cli
