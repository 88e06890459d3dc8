#include "volvelle/ops/rows.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "autograd/node.h"
#include "tensor/convert.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/in_place.h"

namespace volvelle {
namespace {

// Part of a tensor along its first axis, over the same bytes.
Tensor part_of(const Tensor& whole, std::int64_t first, std::int64_t count) {
  Shape shape = whole.shape();
  shape[0] = count;
  const std::int64_t row = whole.shape()[0] == 0 ? 0 : whole.size() / whole.shape()[0];
  auto owner = std::make_shared<Tensor>(whole);
  char* bytes = static_cast<char*>(owner->raw()) +
                first * row * static_cast<std::int64_t>(size_of(whole.dtype()));
  return Tensor::adopt(std::move(owner), bytes, whole.dtype(), shape);
}

// The rows' place in a contiguous array like x.
MutableView place_of(const MutableView& whole, const View& rows, std::int64_t first) {
  const std::int64_t offset = first * whole.strides()[0];
  return MutableView(
      static_cast<char*>(whole.data()) + offset * static_cast<std::int64_t>(size_of(whole.dtype())),
      whole.dtype(), rows.shape(), whole.strides());
}

void pass_rows_back(GradientPass& pass, std::int64_t first) {
  if (!pass.wants(0)) return;
  const View gradient = pass.grad_output();
  const GradientSlot slot = pass.slot(0);
  const MutableView place = place_of(slot.to, gradient, first);
  if (slot.store == Store::accumulate) {
    add_into(place, gradient);
    return;
  }
  std::memset(slot.to.data(), 0,
              static_cast<std::size_t>(element_count(slot.to.shape())) * size_of(slot.to.dtype()));
  copy_elements(gradient, place);
}

}  // namespace

Variable rows(const Variable& x, std::int64_t first, std::int64_t count) {
  if (!x || x.rank() < 1 || first < 0 || count < 0 || first > x.shape()[0] - count) {
    throw InvalidArgument("[rows] " + std::to_string(count) + " rows from row " +
                          std::to_string(first) + " on are not in x " +
                          (x ? to_string(x.shape()) : std::string("(absent)")));
  }
  Variable part = record_view("rows", part_of(x.value(), first, count), x,
                              [first](GradientPass& pass) { pass_rows_back(pass, first); });
  part.state()->is_part = true;
  return part;
}

}  // namespace volvelle
