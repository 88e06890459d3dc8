#include <algorithm>

#include "attention/paged_rows.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

Strided4 laid_out(const Tensor& rows) {
  Strided4 laid;
  laid.data = rows.raw();
  laid.dtype = rows.dtype();
  laid.present = true;
  const Strides strides = contiguous_strides(rows.shape());
  for (int axis = 0; axis < 4; ++axis) laid.stride[axis] = strides[axis];
  return laid;
}

}  // namespace

GatheredTokens::GatheredTokens(const ResolvedAttention& paged) : problem(paged) {
  const PagedRows& rows = *paged.paged;
  const DType stored = rows.pages->options().dtype;
  const std::int64_t widths[2] = {paged.width, paged.value_width};
  Tensor* const gathered[2] = {&k, &v};
  for (int which = 0; which < 2; ++which) {
    Tensor& to = *gathered[which];
    const std::int64_t width = widths[which];
    to = Tensor::zeros(paged.dtype, {paged.batch, paged.key_heads, paged.keys, width});
    const auto bytes = static_cast<std::int64_t>(size_of(paged.dtype));
    for (std::int64_t b = 0; b < paged.batch; ++b) {
      const KeyValueCache::Pages::Tokens& tokens = *rows.rows[static_cast<std::size_t>(b)];
      for (std::int64_t g = 0; g < paged.key_heads; ++g) {
        for (std::int64_t first = tokens.first_kept(); first < tokens.length;
             first += kPageTokens) {
          const std::int64_t count = std::min(kPageTokens, tokens.length - first);
          const std::byte* from =
              which == 0 ? rows.pages->key(tokens, g, first) : rows.pages->value(tokens, g, first);
          const std::int64_t row = (b * paged.key_heads + g) * paged.keys + first;
          copy_elements(View(static_cast<const void*>(from), stored, {count, width}),
                        MutableView(static_cast<std::byte*>(to.raw()) + row * width * bytes,
                                    paged.dtype, {count, width}));
        }
      }
    }
  }
  problem.k = laid_out(k);
  problem.v = laid_out(v);
  problem.paged = nullptr;
}

}  // namespace volvelle
