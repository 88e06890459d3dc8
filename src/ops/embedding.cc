#include "volvelle/ops/embedding.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/elementwise.h"
#include "ops/computed_types.h"
#include "ops/integer_values.h"
#include "ops/row_tasks.h"
#include "ops/variable_checks.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("embedding");

using Ids = std::vector<std::int64_t>;

// Columns of a table that one task adds to: its rows are met in the order of the tokens, so who
// shares work shares columns.
constexpr std::int64_t kFewestColumns = 64;
// Elements that pay for waking a thread.
constexpr std::int64_t kWorthWaking = 1 << 15;

Ids checked_ids(const View& ids, const Variable& table) {
  Ids values = integer_values(kChecks, "ids", ids, "the row of the table for each token");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < table.shape()[0]) continue;
    kChecks.refuse("id " + std::to_string(values[i]) + " at " +
                   place_of(static_cast<std::int64_t>(i), ids.shape()) + " of ids " +
                   to_string(ids.shape()) + " is outside [0, " + std::to_string(table.shape()[0]) +
                   "), the rows of " + named_shape("table", table.view()));
  }
  return values;
}

template <class T>
void scatter(const Ids& ids, const T* grad, std::int64_t width, T* table, int threads) {
  const auto add = std::get<kernels::AddElements<T, T>>(kernels::elementwise_kernels().add);
  const bool few = static_cast<std::int64_t>(ids.size()) * width < kWorthWaking;
  const std::int64_t parts = few ? 1 : std::clamp<std::int64_t>(width / kFewestColumns, 1, threads);
  parallel_for(parts, threads, [&](std::int64_t part) {
    const std::int64_t first = width * part / parts;
    const std::int64_t count = width * (part + 1) / parts - first;
    const T* from = grad + first;
    for (const std::int64_t id : ids) {
      T* const row = table + id * width + first;
      add(row, from, count, row);
      from += width;
    }
  });
}

void clear(const MutableView& table, int threads) {
  const std::int64_t rows = table.shape()[0], width = table.shape()[1];
  const std::int64_t row_bytes = width * static_cast<std::int64_t>(size_of(table.dtype()));
  RowTasks(rows, width, threads).run([&](std::int64_t first, std::int64_t count) {
    std::memset(static_cast<std::byte*>(table.data()) + first * row_bytes, 0,
                static_cast<std::size_t>(count * row_bytes));
  });
}

void embedding_backward(GradientPass& pass, const Ids& ids) {
  if (!pass.wants(0)) return;
  const GradientSlot slot = pass.slot(0);
  const int threads = resolve_threads(0);
  if (slot.store == Store::overwrite) clear(slot.to, threads);
  visit_computed(slot.to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    scatter(ids, static_cast<const T*>(pass.grad_output().data()), slot.to.shape()[1],
            static_cast<T*>(slot.to.data()), threads);
  });
}

Tensor gathered(const Ids& ids, const View& table, Shape shape) {
  const std::int64_t width = table.shape()[1];
  shape.push_back(width);
  Tensor y(table.dtype(), shape);
  const std::size_t row_bytes = static_cast<std::size_t>(width) * size_of(table.dtype());
  const auto* const from = static_cast<const std::byte*>(table.data());
  auto* const to = static_cast<std::byte*>(y.raw());
  const std::int64_t rows = static_cast<std::int64_t>(ids.size());
  if (row_bytes == 0) return y;
  RowTasks(rows, width, resolve_threads(0)).run([&](std::int64_t first, std::int64_t count) {
    for (std::size_t i = static_cast<std::size_t>(first);
         i < static_cast<std::size_t>(first + count); ++i) {
      std::memcpy(to + i * row_bytes, from + static_cast<std::size_t>(ids[i]) * row_bytes,
                  row_bytes);
    }
  });
  return y;
}

}  // namespace

Variable embedding(const View& ids, const Variable& table) {
  check_trainable(kChecks, "table", table);
  if (table.rank() != 2) {
    kChecks.refuse(named_shape("table", table.view()) + " must have shape (V,C)");
  }
  Ids rows = checked_ids(ids, table);
  if (ids.rank() == Axes::kMaxRank) {
    kChecks.refuse(named_shape("ids", ids) +
                   " has as many axes as an array may have; y has one "
                   "more");
  }
  Tensor y = gathered(rows, table.view(), ids.shape());
  if (!is_recording({&table})) return Variable(std::move(y));
  return record("embedding", std::move(y), {table},
                [rows = std::move(rows)](GradientPass& pass) { embedding_backward(pass, rows); });
}

}  // namespace volvelle
