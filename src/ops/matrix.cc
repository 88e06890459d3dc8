#include "ops/matrix.h"

#include <cstring>

#include "kernels/convert.h"

namespace volvelle {

void read_line(const void* from, DType dtype, std::int64_t stride, std::int64_t count, float* to) {
  if (dtype == DType::float32) {
    const float* source = static_cast<const float*>(from);
    if (stride == 1) {
      if (count > 0) std::memcpy(to, source, static_cast<std::size_t>(count) * sizeof(float));
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = source[i * stride];
    }
    return;
  }
  const kernels::ConvertKernels& convert = kernels::convert_kernels();
  const auto widen = dtype == DType::bfloat16 ? convert.widen_bfloat16 : convert.widen_float16;
  const std::uint16_t* source = static_cast<const std::uint16_t*>(from);
  if (stride == 1) {
    widen(source, count, to);
    return;
  }
  std::uint16_t piece[64];
  for (std::int64_t first = 0; first < count; first += 64) {
    const std::int64_t some = count - first < 64 ? count - first : 64;
    for (std::int64_t i = 0; i < some; ++i) piece[i] = source[(first + i) * stride];
    widen(piece, some, to + first);
  }
}

void write_line(const float* from, std::int64_t count, void* to, DType dtype, std::int64_t stride) {
  if (dtype == DType::float32) {
    float* target = static_cast<float*>(to);
    for (std::int64_t i = 0; i < count; ++i) target[i * stride] = from[i];
    return;
  }
  const kernels::ConvertKernels& convert = kernels::convert_kernels();
  const auto narrow = dtype == DType::bfloat16 ? convert.narrow_bfloat16 : convert.narrow_float16;
  std::uint16_t* target = static_cast<std::uint16_t*>(to);
  if (stride == 1) {
    narrow(from, count, target);
    return;
  }
  std::uint16_t piece[64];
  for (std::int64_t first = 0; first < count; first += 64) {
    const std::int64_t some = count - first < 64 ? count - first : 64;
    narrow(from + first, some, piece);
    for (std::int64_t i = 0; i < some; ++i) target[(first + i) * stride] = piece[i];
  }
}

}  // namespace volvelle
