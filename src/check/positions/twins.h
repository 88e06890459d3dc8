#pragma once

#include <string>

#include "check/positions/property.h"

namespace volvelle::positions {

// Operations that are broken in one known way each, made of a sound one.
PositionOperation ignore_positions(const PositionOperation& sound);
PositionOperation leave_odd_tokens_behind(const PositionOperation& sound);
PositionOperation stand_all_at_0(const PositionOperation& sound);
PositionOperation mask_causally(const PositionOperation& sound);
PositionOperation slip_in_sinusoids(const PositionOperation& sound);
PositionOperation restart_positions(const PositionOperation& sound);
PositionOperation forget_newest_token(const PositionOperation& sound);
PositionOperation forget_earlier_chunks(const PositionOperation& sound);
PositionOperation count_padding(const PositionOperation& sound);
PositionOperation see_padding(const PositionOperation& sound);
PositionOperation forget_segments(const PositionOperation& sound);
PositionOperation number_through(const PositionOperation& sound);
PositionOperation leave_pairing(const PositionOperation& sound);
PositionOperation convert_values_too(const PositionOperation& sound);
PositionOperation convert_whole_heads(const PositionOperation& sound);
PositionOperation halve_query_gradients(const PositionOperation& sound);
PositionOperation drop_scheme_gradients(const PositionOperation& sound);
PositionOperation stop_at_last_position(const PositionOperation& sound);
PositionOperation end_at_64(const PositionOperation& sound);
PositionOperation round_positions(const PositionOperation& sound);

}  // namespace volvelle::positions
