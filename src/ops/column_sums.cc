#include "ops/column_sums.h"

#include <algorithm>
#include <tuple>

#include "base/thread_pool.h"
#include "kernels/column_sums.h"
#include "kernels/matmul.h"

namespace volvelle {
namespace {

// Columns of one task at most: two lines of sums stay in the nearest cache.
constexpr std::int64_t kColumns = 1024;
// Fewer are not worth waking a thread, of rows as long as they may be.
constexpr std::int64_t kFewestColumns = 64;
constexpr std::int64_t kWorthWaking = 1 << 16;

using kernels::AddUpColumns;

// Columns of one task, in T.
template <class T>
class ColumnTask {
 public:
  ColumnTask(const SummedRows& summed, std::int64_t first, std::int64_t count)
      : summed_(summed), first_(first), count_(count) {
    std::fill(total_, total_ + count_, T{0});
  }

  void run(const MutableMatrix& out, Store store) {
    for (std::int64_t place = 0; place < summed_.places.count(); ++place) {
      const std::int64_t offset = summed_.places.offsets(place)[0];
      for (std::int64_t row = 0; row < summed_.rows; row += kernels::kDepthBlock) {
        const std::int64_t rows = std::min<std::int64_t>(kernels::kDepthBlock, summed_.rows - row);
        add_block(summed_.matrix.at(row, first_, offset), rows);
        for (std::int64_t c = 0; c < count_; ++c) total_[c] += part_[c];
      }
    }
    finish(out.at(0, first_), store);
  }

 private:
  void add_block(const Matrix& block, std::int64_t rows) {
    const auto& kernels = kernels::column_kernels().add_up;
    if constexpr (std::is_same_v<T, double>) {
      const auto add_up = std::get<AddUpColumns<double, double>>(kernels);
      if (block.column == 1) {
        return add_up(static_cast<const double*>(block.data), block.row, rows, count_, part_);
      }
      for (std::int64_t c = 0; c < count_; ++c) {
        double sum = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          sum += *static_cast<const double*>(block.at(r, c).data);
        }
        part_[c] = sum;
      }
    } else if (block.column == 1 && block.dtype == DType::float32) {
      std::get<AddUpColumns<float, float>>(kernels)(static_cast<const float*>(block.data),
                                                    block.row, rows, count_, part_);
    } else if (block.column == 1 && block.dtype == DType::bfloat16) {
      std::get<AddUpColumns<BFloat16, float>>(kernels)(static_cast<const BFloat16*>(block.data),
                                                       block.row, rows, count_, part_);
    } else {
      std::fill(part_, part_ + count_, 0.0f);
      for (std::int64_t r = 0; r < rows; ++r) {
        read_line(block.at(r, 0).data, block.dtype, block.column, count_, line_);
        for (std::int64_t c = 0; c < count_; ++c) part_[c] += line_[c];
      }
    }
  }

  void finish(const MutableMatrix& out, Store store) {
    if constexpr (std::is_same_v<T, double>) {
      for (std::int64_t c = 0; c < count_; ++c) {
        double& to = *static_cast<double*>(out.at(0, c).data);
        to = store == Store::accumulate ? to + total_[c] : total_[c];
      }
    } else {
      if (store == Store::accumulate) {
        read_line(out.data, out.dtype, out.column, count_, line_);
        for (std::int64_t c = 0; c < count_; ++c) total_[c] += line_[c];
      }
      write_line(total_, count_, out.data, out.dtype, out.column);
    }
  }

  const SummedRows& summed_;
  const std::int64_t first_, count_;
  alignas(64) T total_[kColumns];
  alignas(64) T part_[kColumns];
  T line_[kColumns];
};

}  // namespace

void sum_columns(const SummedRows& summed, const MutableMatrix& out, Store store, int threads) {
  const bool few = summed.places.count() * summed.rows * summed.columns < kWorthWaking;
  const std::int64_t shares =
      few ? 1 : std::clamp<std::int64_t>(summed.columns / kFewestColumns, 1, threads);
  const std::int64_t tasks = std::max(shares, (summed.columns + kColumns - 1) / kColumns);
  parallel_for(tasks, few ? 1 : threads, [&](std::int64_t task) {
    const std::int64_t first = summed.columns * task / tasks;
    const std::int64_t count = summed.columns * (task + 1) / tasks - first;
    if (summed.matrix.dtype == DType::float64) {
      ColumnTask<double>(summed, first, count).run(out, store);
    } else {
      ColumnTask<float>(summed, first, count).run(out, store);
    }
  });
}

}  // namespace volvelle
