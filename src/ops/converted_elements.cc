#include "ops/converted_elements.h"

#include "kernels/convert.h"
#include "ops/chunks.h"

namespace volvelle {

Tensor converted_elements(const Tensor& from, DType dtype, int threads) {
  if (from.dtype() == dtype) return from;
  const kernels::ConvertKernels& convert = kernels::convert_kernels();
  const bool widens = from.dtype() == DType::bfloat16 && dtype == DType::float32;
  const bool narrows = from.dtype() == DType::float32 && dtype == DType::bfloat16;
  if (!widens && !narrows) return converted(from.view(), dtype);
  Tensor to(dtype, from.shape());
  for_each_chunk(from.size(), resolve_threads(threads),
                 [&](std::int64_t first, std::int64_t count) {
                   if (widens) {
                     convert.widen_bfloat16(static_cast<const std::uint16_t*>(from.raw()) + first,
                                            count, to.data<float>() + first);
                   } else {
                     convert.narrow_bfloat16(from.data<float>() + first, count,
                                             static_cast<std::uint16_t*>(to.raw()) + first);
                   }
                 });
  return to;
}

}  // namespace volvelle
