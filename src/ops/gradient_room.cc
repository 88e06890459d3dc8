#include "ops/gradient_room.h"

#include <utility>

namespace volvelle {

GradientRoom::GradientRoom(GradientPass& pass, int input, DType dtype)
    : pass_(pass), input_(input), grad_output_(pass.take_grad_output()) {
  if (!pass.wants(input)) return;
  in_place_ = pass.is_vacant(input) && !grad_output_.is_shared() && grad_output_.dtype() == dtype;
  if (in_place_) {
    to_ = grad_output_.mutable_view();
    return;
  }
  const GradientSlot slot = pass.slot(input);
  to_ = slot.to;
  store_ = slot.store;
}

void GradientRoom::give() {
  Tensor written = std::move(grad_output_);
  grad_output_ = {};
  if (in_place_) pass_.give(input_, std::move(written));
}

}  // namespace volvelle
