#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/matmul.h"
#include "volvelle/ops/packed_weights.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

constexpr std::int64_t element_bytes(WeightFormat format) {
  return format == WeightFormat::float64 ? 8 : format == WeightFormat::float32 ? 4 : 2;
}

/// Panels of 32 outputs, [panel][K][32]; bfloat16 as words of two rows (kernels/matmul_pack.h),
/// [panel][K / 2][32] with K rounded up to a multiple of 32. Of gated weights panel 2 p is the gate
/// and 2 p + 1 its partner, so one walk meets both.
struct PackedWeights::Storage {
  WeightFormat format = WeightFormat::float32;
  bool gated = false;
  std::int64_t outputs = 0, inputs = 0;
  std::int64_t panels = 0;       ///< of both matrices
  std::int64_t panel_bytes = 0;  ///< a multiple of 64
  std::byte* data = nullptr;
  Tensor memory;  ///< behind `data`: weights that change are packed again and again

  /// Rows from k on, which is even.
  std::byte* at(std::int64_t panel, std::int64_t k) const {
    return data + panel * panel_bytes + k * kernels::kPanelColumns * element_bytes(format);
  }
};

/// Rows k to k + depth of `count` panels as float32, [depth][32] each, `pitch` floats apart; k is
/// even. Not of float64.
void widen_panels(const PackedWeights::Storage& storage, std::int64_t panel, int count,
                  std::int64_t k, int depth, float* to, std::int64_t pitch);

}  // namespace volvelle
