#include "volvelle/ops/softmax.h"

#include "kernels/softmax_rows.h"
#include "ops/gradient_room.h"
#include "ops/row_tasks.h"
#include "ops/variable_checks.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

constexpr const char* kName = "softmax";
constexpr OperatorChecks kChecks(kName);

/// Rows along the last axis of contiguous arrays of one shape and dtype.
struct Rows {
  explicit Rows(const Tensor& like)
      : type(row_type_of(like.dtype())),
        width(like.shape()[like.rank() - 1]),
        count(width == 0 ? 0 : like.size() / width),
        bytes(static_cast<std::size_t>(width) * size_of(like.dtype())) {}

  const void* at(const void* base, std::int64_t row) const {
    return static_cast<const std::byte*>(base) + static_cast<std::size_t>(row) * bytes;
  }
  void* at(void* base, std::int64_t row) const {
    return static_cast<std::byte*>(base) + static_cast<std::size_t>(row) * bytes;
  }

  kernels::RowType type;
  std::int64_t width, count;
  std::size_t bytes;
};

void go_back(GradientPass& pass, const Tensor& y) {
  if (!pass.wants(0)) return;
  pass.check_output();
  const Rows rows(y);
  GradientRoom room(pass, 0, y.dtype());
  RowTasks(rows.count, rows.width, 0).run([&](std::int64_t first, std::int64_t count) {
    kernels::softmax_backward({.type = rows.type,
                               .y = rows.at(y.raw(), first),
                               .grad_y = rows.at(room.grad_output().raw(), first),
                               .grad_x = rows.at(room.to().data(), first),
                               .accumulate = room.accumulates(),
                               .rows = count,
                               .width = rows.width});
  });
  room.give();
}

}  // namespace

Variable softmax(const Variable& x) {
  check_trainable(kChecks, "x", x);
  kChecks.rank("x", x.view(), 1, "(..., C)");
  Tensor y(x.dtype(), x.shape());
  const Rows rows(y);
  RowTasks(rows.count, rows.width, 0).run([&](std::int64_t first, std::int64_t count) {
    kernels::softmax_forward({.type = rows.type,
                              .x = rows.at(x.value().raw(), first),
                              .y = rows.at(y.raw(), first),
                              .rows = count,
                              .width = rows.width});
  });
  if (!is_recording({&x})) return Variable(std::move(y));
  const Tensor kept = y;
  return record(kName, std::move(y), {x}, [kept](GradientPass& pass) { go_back(pass, kept); });
}

}  // namespace volvelle
