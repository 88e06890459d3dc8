#pragma once

#include <memory>
#include <span>

#include "volvelle/nn/positions/catalog.h"

namespace volvelle {

// One scheme a file: the settings it reads, and how it is made of them. The text is checked against
// the keys, and the context has every number filled in.
using MakePositions = std::shared_ptr<PositionScheme>(const PositionText& text,
                                                      const PositionContext& context);

std::span<const PositionKey> sinusoidal_keys();
std::span<const PositionKey> learned_keys();
std::span<const PositionKey> rotary_keys();
std::span<const PositionKey> xpos_keys();
std::span<const PositionKey> alibi_keys();
std::span<const PositionKey> t5_keys();
std::span<const PositionKey> clamped_keys();
std::span<const PositionKey> relative_keys();

MakePositions make_no_positions;
MakePositions make_sinusoidal;
MakePositions make_learned;
MakePositions make_rotary;
MakePositions make_xpos;
MakePositions make_alibi;
MakePositions make_t5;
MakePositions make_clamped;
MakePositions make_relative;

}  // namespace volvelle
