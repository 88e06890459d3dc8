#include "ops/pass_on.h"

#include <utility>

#include "tensor/convert.h"
#include "volvelle/ops/in_place.h"

namespace volvelle {

void pass_on(GradientPass& pass, int input, Tensor gradient, int threads) {
  if (!pass.wants(input)) return;
  if (pass.is_vacant(input)) {
    pass.give(input, std::move(gradient));
    return;
  }
  const GradientSlot slot = pass.slot(input);
  if (slot.store == Store::accumulate) {
    add_into(slot.to, gradient.view(), threads);
  } else {
    copy_elements(gradient.view(), slot.to);
  }
}

}  // namespace volvelle
