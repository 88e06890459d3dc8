#include "ops/row_sums.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/sums.h"
#include "ops/computed_types.h"

namespace volvelle {
namespace {

// What one task sums: enough work to hand out, little enough that all threads get some.
constexpr std::int64_t kRows = 256;
constexpr std::int64_t kColumns = 1024;

template <class T>
void write_sums(const double* sums, std::int64_t count, T* to, Store store) {
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, BFloat16>) {
      const double before = store == Store::accumulate ? double{to_float(to[i])} : 0.0;
      to[i] = to_bfloat16(before + sums[i]);
    } else {
      const double before = store == Store::accumulate ? double{to[i]} : 0.0;
      to[i] = static_cast<T>(before + sums[i]);
    }
  }
}

}  // namespace

void sum_rows(const Tensor& x, std::int64_t rows, const MutableView& to, Store store, int threads) {
  const std::int64_t columns = element_count(to.shape());
  threads = resolve_threads(threads);
  const std::int64_t row_blocks = std::max<std::int64_t>(1, (rows + kRows - 1) / kRows);
  const std::int64_t column_blocks = (columns + kColumns - 1) / kColumns;
  std::vector<double> sums(static_cast<std::size_t>(row_blocks * columns), 0.0);
  visit_computed(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto add_rows = std::get<kernels::AddRows<T>>(kernels::sum_kernels().add_rows);
    const T* const in = x.data<T>();
    parallel_for(row_blocks * column_blocks, threads, [&](std::int64_t task) {
      const std::int64_t row = task / column_blocks * kRows;
      const std::int64_t column = task % column_blocks * kColumns;
      add_rows(in + row * columns + column, std::min(kRows, rows - row), columns,
               std::min(kColumns, columns - column),
               sums.data() + task / column_blocks * columns + column);
    });
  });
  for (std::int64_t block = 1; block < row_blocks; ++block) {
    for (std::int64_t c = 0; c < columns; ++c) {
      sums[static_cast<std::size_t>(c)] += sums[static_cast<std::size_t>(block * columns + c)];
    }
  }
  visit_computed(to.dtype(), [&](auto zero) {
    write_sums(sums.data(), columns, static_cast<decltype(zero)*>(to.data()), store);
  });
}

}  // namespace volvelle
