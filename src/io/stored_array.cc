#include "io/stored_array.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {

std::optional<std::uint64_t> array_bytes(const Shape& shape, DType dtype) {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  bool empty = false;
  for (const std::int64_t axis : shape) {
    if (axis < 0) return std::nullopt;
    empty = empty || axis == 0;
    if (axis != 0 && __builtin_mul_overflow(bytes, axis, &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

void check_booleans(const Tensor& array, const std::string& file, std::uint64_t offset) {
  if (array.dtype() != DType::boolean) return;
  const auto* bytes = static_cast<const unsigned char*>(array.raw());
  const auto* end = bytes + array.bytes();
  const auto* bad = std::find_if(bytes, end, [](unsigned char byte) { return byte > 1; });
  if (bad != end) {
    throw FormatError(file, static_cast<std::int64_t>(offset) + (bad - bytes),
                      "a boolean is stored as " + std::to_string(*bad) + ", expected 0 or 1");
  }
}

Tensor stored_array(const Source& source, std::uint64_t offset, DType dtype, const Shape& shape) {
  const std::byte* data = source.bytes.data() + offset;
  Tensor array;
  if (source.owner && reinterpret_cast<std::uintptr_t>(data) % size_of(dtype) == 0) {
    // The mapping is private, so a tensor that is written to changes its own copy of the page.
    array = Tensor::adopt(source.owner, const_cast<std::byte*>(data), dtype, shape);
  } else {
    array = Tensor(dtype, shape);
    if (array.bytes() > 0) std::memcpy(array.raw(), data, array.bytes());
  }
  check_booleans(array, source.name, offset);
  return array;
}

}  // namespace volvelle
