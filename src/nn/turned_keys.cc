#include "nn/turned_keys.h"

#include "base/thread_pool.h"

namespace volvelle {
namespace {

// One row of a table, (P, r/2) or (B, P, r/2), whichever of the two dtypes it has.
struct TableRow {
  const void* data;
  DType dtype;
  std::int64_t first;

  double operator[](std::int64_t pair) const {
    if (dtype == DType::float64) return static_cast<const double*>(data)[first + pair];
    return static_cast<const float*>(data)[first + pair];
  }
};

TableRow row_of(const Tensor& table, std::int64_t b, std::int64_t position) {
  const int rank = table.rank();
  const std::int64_t pairs = table.shape()[rank - 1];
  const std::int64_t row = (rank == 3 && table.shape()[0] > 1 ? b : 0) * table.shape()[rank - 2];
  return {table.raw(), table.dtype(), (row + position) * pairs};
}

}  // namespace

Tensor turned_keys(const View& k, const RotaryTables& rotary, std::span<const std::int64_t> starts,
                   int threads) {
  const Shape& shape = k.shape();
  const std::int64_t heads = shape[1], count = shape[2], width = shape[3];
  const Tensor& cosines = rotary.key_cosines ? rotary.key_cosines : rotary.cosines;
  const Tensor& sines = rotary.key_sines ? rotary.key_sines : rotary.sines;
  const std::int64_t pairs = cosines.shape()[cosines.rank() - 1];
  const bool split = rotary.pairing == RotaryPairing::split_half;
  const std::int64_t step = split ? 1 : 2, apart = split ? pairs : 1;
  Tensor turned = converted(k, DType::float32);
  auto* rows = turned.data<float>();
  parallel_for(shape[0] * heads, resolve_threads(threads), [&](std::int64_t head) {
    const std::int64_t b = head / heads;
    for (std::int64_t i = 0; i < count; ++i) {
      float* row = rows + (head * count + i) * width;
      const std::int64_t position = starts[static_cast<std::size_t>(b)] + i;
      const TableRow c = row_of(cosines, b, position), s = row_of(sines, b, position);
      for (std::int64_t pair = 0; pair < pairs; ++pair) {
        float& first = row[pair * step];
        float& second = row[pair * step + apart];
        const auto cosine = static_cast<float>(c[pair]), sine = static_cast<float>(s[pair]);
        const float a = first, d = second;
        first = a * cosine - d * sine;
        second = a * sine + d * cosine;
      }
    }
  });
  return turned;
}

}  // namespace volvelle
