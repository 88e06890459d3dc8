#include "ops/norm_backward.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "kernels/norm_rows.h"
#include "ops/gradient_room.h"
#include "ops/norm_factors.h"
#include "ops/variable_checks.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

// Rows of a block depend on the shape alone, so that sums have one order. At most 64 blocks, to
// keep their sums small beside the rows.
std::int64_t block_rows(std::int64_t rows) { return std::max<std::int64_t>(16, (rows + 63) / 64); }

// Below this many elements a second thread costs more than it does.
constexpr std::int64_t kForOneThread = 32768;

void* at(void* base, std::int64_t elements, DType dtype) {
  return static_cast<std::byte*>(base) + static_cast<std::size_t>(elements) * size_of(dtype);
}
const void* at(const void* base, std::int64_t elements, DType dtype) {
  return static_cast<const std::byte*>(base) + static_cast<std::size_t>(elements) * size_of(dtype);
}

/// Partial sums (blocks, 2, C) added up in order into an input's gradient.
void give_sums(GradientPass& pass, int input, const Tensor& partial, std::int64_t which) {
  if (!pass.wants(input)) return;
  const GradientSlot slot = pass.slot(input);
  const std::int64_t width = partial.shape()[2];
  kernels::PartialSums sums;
  sums.type = row_type_of(partial.dtype());
  sums.from = at(partial.raw(), which * width, partial.dtype());
  sums.count = partial.shape()[0];
  sums.stride = 2 * width;
  sums.width = width;
  sums.accumulate = slot.store == Store::accumulate;
  if (slot.to.dtype() == partial.dtype()) {
    sums.to = slot.to.data();
    kernels::add_partial_sums(sums);
    return;
  }
  Tensor wide(partial.dtype(), {width});
  if (sums.accumulate) copy_elements(slot.to, wide.mutable_view());
  sums.to = wide.raw();
  kernels::add_partial_sums(sums);
  copy_elements(wide.view(), slot.to);
}

}  // namespace

void NormBackward::operator()(GradientPass& pass) const {
  const Variable& from = x.variable(operation);
  const Variable scaled_by = weight.variable(operation);
  const std::int64_t width = from.shape()[from.rank() - 1];
  const std::int64_t rows = width == 0 ? 0 : from.size() / width;
  const DType arithmetic = statistics.dtype();
  GradientRoom room(pass, 0, from.dtype());
  const Tensor& grad_y = room.grad_output();
  const NormFactors factors(scaled_by, {}, weight_offset, arithmetic, width);

  const std::int64_t in_block = block_rows(rows);
  const std::int64_t blocks = (rows + in_block - 1) / in_block;
  const bool sums = pass.wants(1) || pass.wants(2);
  Tensor partial;
  if (sums) partial = Tensor(arithmetic, {blocks, 2, width});
  parallel_for(
      blocks, from.size() < kForOneThread ? 1 : resolve_threads(threads), [&](std::int64_t block) {
        const std::int64_t first = block * in_block;
        kernels::NormBackwardStep step;
        step.x_type = row_type_of(from.dtype());
        step.y_type = row_type_of(grad_y.dtype());
        step.x = at(from.value().raw(), first * width, from.dtype());
        step.grad_y = at(grad_y.raw(), first * width, grad_y.dtype());
        step.factors = factors.factors();
        step.statistics = at(statistics.raw(), first * kernels::kNormStatistics, arithmetic);
        if (room) step.grad_x = at(room.to().data(), first * width, from.dtype());
        step.accumulate = room.accumulates();
        if (sums) {
          step.factor_sums = at(partial.raw(), block * 2 * width, arithmetic);
          step.bias_sums = at(step.factor_sums, width, arithmetic);
          std::memset(step.factor_sums, 0,
                      static_cast<std::size_t>(2 * width) * size_of(arithmetic));
        }
        step.rows = std::min(in_block, rows - first);
        step.width = width;
        step.centred = centred;
        kernels::norm_backward(step);
      });
  room.give();
  if (sums) {
    give_sums(pass, 1, partial, 0);
    give_sums(pass, 2, partial, 1);
  }
}

}  // namespace volvelle
