#include "volvelle/nn/positions/scheme.h"

namespace volvelle {

Variable PositionScheme::add_to_tokens(const Variable& x, const View& /*positions*/) const {
  return x;
}

void PositionScheme::enter(AttendVariableOptions& /*attention*/,
                           const AttentionPlaces& /*places*/) const {}

void PositionScheme::initialize(Initializer& /*initializer*/) {}

}  // namespace volvelle
