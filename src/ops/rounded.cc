#include "ops/rounded.h"

#include "base/thread_pool.h"
#include "ops/pieces.h"

namespace volvelle {

Tensor rounded(const Tensor& numbers, DType dtype, int threads) {
  if (numbers.dtype() == dtype) return numbers;
  Tensor result(dtype, numbers.shape());
  const View from = numbers.view();
  const MutableMatrix to{result.raw(), dtype, 0, 1};
  for_pieces(from, resolve_threads(threads), [&](std::int64_t first, std::int64_t count) {
    PieceIn in(from);
    write_line(in.read(first, count), count, to.at(0, first).data, dtype, 1);
  });
  return result;
}

}  // namespace volvelle
