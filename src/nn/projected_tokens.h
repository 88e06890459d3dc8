#pragma once

#include "volvelle/nn/multi_head_attention.h"

namespace volvelle {

/// Token vectors after the projections: (B,T,H D), (B,S,G D), (B,S,G D).
struct MultiHeadAttention::Projected {
  Variable q, k, v;
};

}  // namespace volvelle
