#include "attention/turned_heads.h"

#include "base/thread_pool.h"
#include "kernels/rotate.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

kernels::RotatedType stored_as(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return kernels::RotatedType::float32;
    case DType::float64:
      return kernels::RotatedType::float64;
    case DType::float16:
      return kernels::RotatedType::float16;
    case DType::bfloat16:
      return kernels::RotatedType::bfloat16;
    default:
      throw InternalError("[turn] heads of another dtype");
  }
}

// The table in the type of the arithmetic.
Tensor in_type(const Tensor& table, DType heads) {
  const DType wanted = heads == DType::float64 ? DType::float64 : DType::float32;
  return table.dtype() == wanted ? table : converted(table.view(), wanted);
}

const std::byte* row_of(const Tensor& table, std::int64_t b, std::int64_t position) {
  const int rank = table.rank();
  const std::int64_t own = rank == 3 && table.shape()[0] > 1 ? b : 0;
  const std::int64_t row = own * table.shape()[rank - 2] + position;
  return static_cast<const std::byte*>(table.raw()) +
         row * table.shape()[rank - 1] * static_cast<std::int64_t>(size_of(table.dtype()));
}

}  // namespace

Tensor turned_heads(const View& heads, const Tensor& cosines, const Tensor& sines,
                    RotaryPairing pairing, const Tensor& positions, int threads) {
  const Shape& shape = heads.shape();
  const std::int64_t count = shape[2], width = shape[3];
  const auto element = static_cast<std::int64_t>(size_of(heads.dtype()));
  const Tensor c = in_type(cosines, heads.dtype()), s = in_type(sines, heads.dtype());
  const std::int64_t pairs = c.shape()[c.rank() - 1];
  const auto turn = kernels::rotate_kernels().turn[static_cast<int>(stored_as(heads.dtype()))];
  Tensor turned(heads.dtype(), shape);
  parallel_for(shape[0] * shape[1], resolve_threads(threads), [&](std::int64_t head) {
    const std::int64_t b = head / shape[1], h = head % shape[1];
    const auto* at =
        positions.data<std::int64_t>() + (positions.rank() == 2 && shape[0] > 1 ? b * count : 0);
    const auto* from = static_cast<const std::byte*>(heads.data()) +
                       (b * heads.strides()[0] + h * heads.strides()[1]) * element;
    auto* to = static_cast<std::byte*>(turned.raw()) + head * count * width * element;
    std::int64_t run = 1;
    for (std::int64_t i = 0; i < count; i += run) {
      for (run = 1; i + run < count && at[i + run] == at[i] + run;) ++run;
      turn({.x = from + i * heads.strides()[2] * element,
            .y = to + i * width * element,
            .x_stride = heads.strides()[2],
            .y_stride = width,
            .rows = run,
            .width = width,
            .pairs = pairs,
            .cosines = row_of(c, b, at[i]),
            .sines = row_of(s, b, at[i]),
            .cosine_stride = pairs,
            .sine_stride = pairs,
            .interleaved = pairing == RotaryPairing::interleaved});
    }
  });
  return turned;
}

}  // namespace volvelle
