#pragma once

#include <memory>

#include "volvelle/measure/position_bench.h"

namespace volvelle {

/// Something that a position scheme takes part in, ready to be checked and timed.
class PositionTask {
 public:
  virtual ~PositionTask() = default;

  virtual void run() = 0;
  /// The largest difference found; runs what it needs. Throws InternalError where it is too large.
  virtual double check() = 0;
  /// Bytes that a run must read from memory; 0: it is not held against that.
  virtual double bytes() const { return 0; }
};

/// One for each kind of work; `one` is filled in.
std::unique_ptr<PositionTask> attention_task(const PositionCase& one, int threads);
std::unique_ptr<PositionTask> backward_task(const PositionCase& one, int threads);
std::unique_ptr<PositionTask> block_task(const PositionCase& one, int threads);
std::unique_ptr<PositionTask> turn_task(const PositionCase& one, int threads);
std::unique_ptr<PositionTask> step_task(const PositionCase& one, int threads);

/// Layers of a step's model.
inline constexpr std::int64_t kStepLayers = 6;
/// Its vocabulary: small, so that the head does not hide the layers.
inline constexpr std::int64_t kStepVocabulary = 512;

}  // namespace volvelle
