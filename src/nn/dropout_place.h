#pragma once

#include <cstdint>

#include "volvelle/nn/forward.h"

namespace volvelle {

/// The same options for one of the places inside a module: its dropout draws from a stream of its
/// own (splitmix64's finaliser over seed and place).
inline ForwardOptions at_place(ForwardOptions how, std::int64_t place) {
  std::uint64_t z =
      how.dropout_seed + (static_cast<std::uint64_t>(place) + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  how.dropout_seed = z ^ (z >> 31);
  return how;
}

}  // namespace volvelle
