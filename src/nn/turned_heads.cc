#include "nn/turned_heads.h"

#include "base/thread_pool.h"

namespace volvelle {
namespace {

// One row of a table, whichever of the two dtypes it has.
struct TableRow {
  const void* data;
  DType dtype;
  std::int64_t first;

  double operator[](std::int64_t pair) const {
    if (dtype == DType::float64) return static_cast<const double*>(data)[first + pair];
    return static_cast<double>(static_cast<const float*>(data)[first + pair]);
  }
};

TableRow row_of(const Tensor& table, std::int64_t b, std::int64_t position) {
  const int rank = table.rank();
  const std::int64_t pairs = table.shape()[rank - 1];
  const std::int64_t row = (rank == 3 && table.shape()[0] > 1 ? b : 0) * table.shape()[rank - 2];
  return {table.raw(), table.dtype(), (row + position) * pairs};
}

// (a, b) becomes (a c - b s, a s + b c).
template <class Real>
void turn(Real* row, const TableRow& cosines, const TableRow& sines, std::int64_t pairs,
          RotaryPairing pairing) {
  const bool split = pairing == RotaryPairing::split_half;
  const std::int64_t step = split ? 1 : 2, apart = split ? pairs : 1;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    Real& first = row[pair * step];
    Real& second = row[pair * step + apart];
    const auto c = static_cast<Real>(cosines[pair]), s = static_cast<Real>(sines[pair]);
    const Real a = first, b = second;
    first = a * c - b * s;
    second = a * s + b * c;
  }
}

}  // namespace

Tensor turned_heads(const View& heads, const Tensor& cosines, const Tensor& sines,
                    RotaryPairing pairing, const Tensor& positions, int threads) {
  const Shape& shape = heads.shape();
  const std::int64_t count = shape[2], width = shape[3];
  const std::int64_t pairs = cosines.shape()[cosines.rank() - 1];
  const auto* at = positions.data<std::int64_t>();
  const std::int64_t row_stride = positions.rank() == 2 ? count : 0;
  const bool wide = heads.dtype() == DType::float64;
  Tensor turned = converted(heads, wide ? DType::float64 : DType::float32);
  parallel_for(shape[0] * shape[1], resolve_threads(threads), [&](std::int64_t head) {
    const std::int64_t b = head / shape[1];
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t position = at[b * row_stride + i], row = (head * count + i) * width;
      const TableRow c = row_of(cosines, b, position), s = row_of(sines, b, position);
      if (wide) {
        turn(turned.data<double>() + row, c, s, pairs, pairing);
      } else {
        turn(turned.data<float>() + row, c, s, pairs, pairing);
      }
    }
  });
  return turned;
}

}  // namespace volvelle
