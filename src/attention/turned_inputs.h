#pragma once

#include "attention/resolved.h"

namespace volvelle {

/// Where keys turn: once, before the walk, or on the way into each tile, for walks that meet each
/// key only once.
enum class KeyTurns : std::uint8_t { before, in_tiles };

/// A problem whose q, and k unless it turns in tiles, were turned once: copies (B,H,T,D) and
/// (B,G,S,D) of their dtype in workspaces of the calling thread. Without turns it is the problem
/// itself. Keys in the pages of a cache always turn in tiles.
class TurnedInputs {
 public:
  TurnedInputs(const ResolvedAttention& given, KeyTurns keys, int threads);
  TurnedInputs(const TurnedInputs&) = delete;
  TurnedInputs& operator=(const TurnedInputs&) = delete;

  const ResolvedAttention& problem() const { return turned_; }

 private:
  ResolvedAttention turned_;
};

}  // namespace volvelle
