#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/nn/stack.h"
#include "volvelle/training/trainer.h"

namespace volvelle {

/// A layer in one step. Norms are over all parameters of the layer together.
struct LayerFigures {
  std::string layer;         ///< see layer_of
  double gradient_norm = 0;  ///< before clipping
  double weight_norm = 0;    ///< before the step
  double update_norm = 0;    ///< of what the step added
  double update_ratio = 0;   ///< update_norm / weight_norm; 0 where both are
  /// Root of the mean square of the stream behind a numbered layer; NaN where no trace was given.
  double activation_rms = std::numeric_limits<double>::quiet_NaN();
};

/// One step of a run.
struct LayerRecord {
  std::int64_t step = 0;
  double loss = 0, rate = 0, gradient_norm = 0;
  bool stepped = true;
  std::string trouble;
  std::vector<LayerFigures> layers;  ///< in the order of the module's parameters
};

/// What a training run should be watched by, layer by layer: gradient norm, weight norm, size of
/// the update over the weight, activation RMS. studies/layer_log_tables.h makes a table (for CSV)
/// and charts of it.
class VOLVELLE_API LayerLog {
 public:
  /// `trace` is of that step's forward pass. Throws InvalidArgument for a report without parameters
  /// (TrainerOptions::measure_layers) that did step, and a trace of another number of layers.
  void add(const StepReport& report, const StackTrace* trace = nullptr);

  const std::vector<LayerRecord>& records() const noexcept { return records_; }
  /// Names of all layers, in order.
  std::vector<std::string> layers() const;

 private:
  std::vector<LayerRecord> records_;
};

/// The layer that a parameter belongs to, by its name: up to its last number
/// ("stack.layers.3.norm1.weight": "stack.layers.3"), else all but the last part
/// ("embedding.weight": "embedding").
VOLVELLE_API std::string layer_of(std::string_view parameter);

}  // namespace volvelle
