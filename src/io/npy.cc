#include "io/npy.h"

#include <algorithm>

#include "io/stored_array.h"

namespace volvelle {
namespace {

void reverse_bytes(Tensor& array) {
  auto* bytes = static_cast<std::byte*>(array.raw());
  const std::size_t size = size_of(array.dtype());
  for (std::size_t at = 0; at < array.bytes(); at += size) {
    std::reverse(bytes + at, bytes + at + size);
  }
}

Strides first_axis_fastest(const Shape& shape) {
  Strides strides = Axes::filled(shape.rank(), 1);
  for (int axis = 1; axis < shape.rank(); ++axis) {
    strides[axis] = strides[axis - 1] * std::max<std::int64_t>(shape[axis - 1], 1);
  }
  return strides;
}

}  // namespace

Tensor arranged(const Tensor& stored, const NpyHeader& header) {
  Tensor array = stored;
  if (header.big_endian) {
    array = copy_of(stored.view());
    reverse_bytes(array);
  }
  if (header.fortran_order && header.shape.rank() > 1) {
    array =
        copy_of(View(array.raw(), header.dtype, header.shape, first_axis_fastest(header.shape)));
  }
  return array;
}

Tensor parse_npy(const Source& source) {
  const std::uint64_t total = source.bytes.size();
  const std::size_t start = npy_header_bytes(source, total);
  const NpyHeader header = parse_npy_header({source.name, source.bytes.first(start)}, total);
  return arranged(stored_array(source, start, header.dtype, header.shape), header);
}

}  // namespace volvelle
