#include "volvelle/ops/packed_weights.h"

#include <algorithm>
#include <string>

#include "base/thread_pool.h"
#include "kernels/convert.h"
#include "kernels/matmul_pack.h"
#include "ops/checks.h"
#include "ops/panel_source.h"
#include "ops/weight_storage.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using kernels::kDepthBlock;
using kernels::kPanelColumns;

constexpr OperatorChecks kChecks("pack weights");

WeightFormat format_of(DType dtype) {
  if (dtype == DType::float64) return WeightFormat::float64;
  if (dtype == DType::bfloat16) return WeightFormat::bfloat16;
  return dtype == DType::float16 ? WeightFormat::float16 : WeightFormat::float32;
}

void check(const char* name, const View& weights, WeightFormat format) {
  kChecks.floats(name, weights);
  if ((weights.dtype() == DType::float64) != (format == WeightFormat::float64)) {
    kChecks.refuse(std::string(name) + " is " + std::string(name_of(weights.dtype())) +
                   " and cannot be packed as " + std::string(name_of(format)) +
                   "; float64 is packed as float64, and nothing else is");
  }
  if (weights.rank() != 2) {
    kChecks.refuse(named_shape(name, weights) + " must have shape (N,K)");
  }
}

// Room for `matrices` matrices of the shape of `weights`.
std::shared_ptr<PackedWeights::Storage> storage_for(const View& weights, WeightFormat format,
                                                    int matrices) {
  auto storage = std::make_shared<PackedWeights::Storage>();
  storage->format = format;
  storage->gated = matrices == 2;
  storage->outputs = weights.shape()[0];
  storage->inputs = weights.shape()[1];
  const std::int64_t panels =
      storage->outputs / kPanelColumns + (storage->outputs % kPanelColumns != 0 ? 1 : 0);
  storage->panels = panels * matrices;
  std::int64_t bytes = 0;
  const std::int64_t element = element_bytes(format);
  // bfloat16 comes in pairs, which kernels take sixteen at a time; two rows of any format fill
  // whole lines of 64 bytes.
  const std::int64_t unit = format == WeightFormat::bfloat16 ? 32 : 2;
  if (__builtin_add_overflow(storage->inputs, unit - 1, &bytes) ||
      __builtin_mul_overflow(bytes / unit * unit, element * kPanelColumns, &storage->panel_bytes) ||
      __builtin_mul_overflow(storage->panel_bytes, storage->panels, &bytes)) {
    kChecks.refuse(named_shape("weights", weights) + " would take more than 63 bits of bytes");
  }
  try {
    storage->memory = Tensor(DType::uint8, {bytes});
  } catch (const IoError&) {
    throw IoError("[pack weights] no room for " + std::to_string(bytes) + " bytes of " +
                  std::string(name_of(format)) + " " + named_shape("weights", weights));
  }
  storage->data = static_cast<std::byte*>(storage->memory.raw());
  return storage;
}

// One panel of bfloat16, with zeros behind the last pair.
void pack_pairs(const PackedWeights::Storage& storage, const ViewPanels& panels, std::int64_t panel,
                std::int64_t place) {
  for (std::int64_t k = 0; k < storage.inputs; k += kPairDepth) {
    const int depth = static_cast<int>(std::min<std::int64_t>(kPairDepth, storage.inputs - k));
    panels.fetch_pairs(0, panel, 1, k, depth,
                       reinterpret_cast<std::uint32_t*>(storage.at(place, k)));
  }
}

// Every `step`th panel from `first` on.
void pack_into(const PackedWeights::Storage& storage, const View& weights, int first, int step,
               const PackOptions& options) {
  // The right operand is W^T: its rows are inputs, its columns outputs.
  const Matrix matrix{weights.data(), weights.dtype(), stride_from_end(weights, -1),
                      stride_from_end(weights, -2)};
  const ViewPanels panels(matrix, storage.outputs);
  parallel_for(storage.panels / step, resolve_threads(options.threads), [&](std::int64_t panel) {
    const std::int64_t place = panel * step + first;
    if (storage.format == WeightFormat::bfloat16) return pack_pairs(storage, panels, panel, place);
    alignas(64) float wide[kDepthBlock * kPanelColumns];  // of float16 alone
    for (std::int64_t k = 0; k < storage.inputs; k += kDepthBlock) {
      const int depth = static_cast<int>(std::min<std::int64_t>(kDepthBlock, storage.inputs - k));
      std::byte* const to = storage.at(place, k);
      if (storage.format == WeightFormat::float64) {
        panels.fetch_double(0, panel, 1, k, depth, reinterpret_cast<double*>(to));
      } else if (storage.format == WeightFormat::float32) {
        panels.write(0, panel, 1, k, depth, reinterpret_cast<float*>(to), 0);
      } else {
        panels.write(0, panel, 1, k, depth, wide, 0);
        kernels::convert_kernels().narrow_float16(wide, std::int64_t{depth} * kPanelColumns,
                                                  reinterpret_cast<std::uint16_t*>(to));
      }
    }
  });
}

}  // namespace

std::string_view name_of(WeightFormat format) noexcept {
  switch (format) {
    case WeightFormat::bfloat16:
      return "bfloat16";
    case WeightFormat::float16:
      return "float16";
    case WeightFormat::float64:
      return "float64";
    case WeightFormat::float32:
      break;
  }
  return "float32";
}

void widen_panels(const PackedWeights::Storage& storage, std::int64_t panel, int count,
                  std::int64_t k, int depth, float* to, std::int64_t pitch) {
  const std::byte* from = storage.at(panel, k);
  if (storage.format == WeightFormat::bfloat16) {
    kernels::pack_kernels().widen_pairs(reinterpret_cast<const std::uint32_t*>(from),
                                        storage.panel_bytes / 4, count, depth, to, pitch);
    return;
  }
  const std::int64_t numbers = std::int64_t{depth} * kPanelColumns;
  for (int p = 0; p < count; ++p, from += storage.panel_bytes, to += pitch) {
    if (storage.format == WeightFormat::float32) {
      std::copy_n(reinterpret_cast<const float*>(from), numbers, to);
    } else {
      kernels::convert_kernels().widen_float16(reinterpret_cast<const std::uint16_t*>(from),
                                               numbers, to);
    }
  }
}

PackedWeights::PackedWeights(const View& weights, const PackOptions& options)
    : PackedWeights(weights, format_of(weights.dtype()), options) {}

PackedWeights::PackedWeights(const View& weights, WeightFormat format, const PackOptions& options) {
  check("weights", weights, format);
  const auto storage = storage_for(weights, format, 1);
  pack_into(*storage, weights, 0, 1, options);
  storage_ = storage;
}

PackedWeights PackedWeights::gated(const View& gate, const View& up, const PackOptions& options) {
  if (gate.dtype() != up.dtype()) {
    kChecks.refuse("gate is " + std::string(name_of(gate.dtype())) + " and up " +
                   std::string(name_of(up.dtype())) + "; name a format for both");
  }
  return gated(gate, up, format_of(up.dtype()), options);
}

PackedWeights PackedWeights::gated(const View& gate, const View& up, WeightFormat format,
                                   const PackOptions& options) {
  check("gate", gate, format);
  check("up", up, format);
  kChecks.shape("gate", gate, up.shape(), "(N,K) of up");
  const auto storage = storage_for(up, format, 2);
  pack_into(*storage, gate, 0, 2, options);
  pack_into(*storage, up, 1, 2, options);
  return PackedWeights(std::shared_ptr<const Storage>(storage));
}

std::int64_t PackedWeights::outputs() const noexcept { return storage_ ? storage_->outputs : 0; }

std::int64_t PackedWeights::inputs() const noexcept { return storage_ ? storage_->inputs : 0; }

WeightFormat PackedWeights::format() const noexcept {
  return storage_ ? storage_->format : WeightFormat::float32;
}

bool PackedWeights::is_gated() const noexcept { return storage_ && storage_->gated; }

std::size_t PackedWeights::bytes() const noexcept {
  return storage_ ? static_cast<std::size_t>(storage_->panel_bytes * storage_->panels) : 0;
}

}  // namespace volvelle
