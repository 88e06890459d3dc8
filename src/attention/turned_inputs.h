#pragma once

#include "attention/resolved.h"
#include "attention/rotary_rows.h"

namespace volvelle {

/// A problem whose q and k were turned once, before any walk: copies (B,H,T,D) and (B,G,S,D) of
/// their dtype in workspaces of the calling thread. Without turns it is the problem itself, and
/// keys in the pages of a cache are left to their tile source.
class TurnedInputs {
 public:
  TurnedInputs(const ResolvedAttention& given, int threads);
  TurnedInputs(const TurnedInputs&) = delete;
  TurnedInputs& operator=(const TurnedInputs&) = delete;

  const ResolvedAttention& problem() const { return turned_; }
  /// Gradients of turned rows, in place, become those of the rows that were given.
  void turn_back(const Strided4& gradient, TurnedRows which, int threads) const;

 private:
  const ResolvedAttention& given_;
  ResolvedAttention turned_;
};

}  // namespace volvelle
