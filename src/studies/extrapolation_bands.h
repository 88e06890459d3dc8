#pragma once

#include <cstdint>
#include <vector>

#include "studies/extrapolation_task.h"
#include "volvelle/nn/language_model.h"

namespace volvelle {

/// Positions [from, to).
struct PositionBand {
  std::int64_t from = 0, to = 0;
};

/// Right answers of one part of a task.
struct PartFigures {
  std::int64_t near = 0, near_right = 0;  ///< told within the training length
  std::int64_t far = 0, far_right = 0;    ///< told further back

  double accuracy() const;       ///< of both; NaN without labels
  double near_accuracy() const;  ///< NaN without such labels
  double far_accuracy() const;
};

/// What a network did in one band.
struct BandFigures {
  std::int64_t labels = 0;
  double loss = 0;  ///< mean over the labels, in float64
  double best = 0;  ///< mean of what they cost who knows all
  std::vector<PartFigures> parts;

  double above_best() const { return loss - best; }
};

/// Which test sequences are looked at.
struct TestRows {
  std::uint64_t seed = 0;
  std::int64_t first = 0, rows = 0;
};

/// What these logits, (rows, tokens, V), are worth in one band.
BandFigures measure_logits(const ExtrapolationTask& task, const ContestBatch& batch,
                           const Tensor& logits, const PositionBand& band);

/// Reads whole sequences of `tokens` and measures the bands in them.
std::vector<BandFigures> measure_bands(const LanguageModel& model, const ExtrapolationTask& task,
                                       const TestRows& rows, std::int64_t tokens,
                                       const std::vector<PositionBand>& bands);

/// The same where the network sees no more than `window` tokens: windows begin every quarter of
/// that, at position 0 for the network, and it is asked for the last quarter of each. Bands must
/// begin at `window` or later.
std::vector<BandFigures> measure_in_windows(const LanguageModel& model,
                                            const ExtrapolationTask& task, const TestRows& rows,
                                            std::int64_t window,
                                            const std::vector<PositionBand>& bands);

}  // namespace volvelle
