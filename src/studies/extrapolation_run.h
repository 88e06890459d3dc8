#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "studies/extrapolation_bands.h"
#include "studies/extrapolation_schemes.h"
#include "studies/extrapolation_task.h"
#include "volvelle/studies/extrapolation.h"

namespace volvelle {

/// One network, trained once.
struct ContestRun {
  std::string positions;  ///< as text
  double rate = 0;
  std::uint64_t seed = 0;
  /// Sequences reach the last quarter of the training length once in so many steps only; 1: always.
  std::int64_t full_every = 1;
};

/// Steps of which one is full, where rows are to be seen rarely.
inline constexpr std::int64_t kRareEvery = 8;

struct TrainedRun {
  bool finished = false;  ///< false: it was stopped from outside, and says nothing
  std::unique_ptr<LanguageModel> model;
  std::int64_t parameters = 0;
  double validation = 0;  ///< loss at the training length on sequences that are no tests
  /// Root mean square of what training changed in each row of a learned table; empty without one.
  std::vector<double> row_changes;
};

/// The network of a run as it begins.
std::unique_ptr<LanguageModel> first_network(const ExtrapolationOptions& options,
                                             const ExtrapolationTask& task,
                                             const std::string& positions, std::uint64_t seed);

/// Trains it on the calling thread alone. `go_on` is asked before each step, counted from 1; false
/// ends the run.
TrainedRun train_run(const ExtrapolationOptions& options, const ExtrapolationTask& task,
                     const ContestRun& run, const std::function<bool(std::int64_t step)>& go_on);

/// Tokens of the sequences of a step.
std::int64_t tokens_of_step(const ExtrapolationOptions& options, const ContestRun& run,
                            std::int64_t step);

/// What a contestant did in the tests.
struct ContestOutcome {
  bool finished = false;
  std::string trouble;               ///< of a run whose loss or gradient was not finite
  BandFigures seen;                  ///< at the training length
  std::vector<BandFigures> bands;    ///< of each longer test, those that it has positions for
  std::vector<BandFigures> windows;  ///< of each longer test, in windows of the training length

  /// Whether each part of the task reached the accuracy that it asks for.
  bool counts(const std::vector<ContestPart>& parts) const;
};

/// Positions between each test length and the one before it, beyond the training length.
std::vector<PositionBand> longer_bands(const ExtrapolationOptions& options);

/// Tests a trained network as this contestant.
ContestOutcome test_run(const ExtrapolationOptions& options, const ExtrapolationTask& task,
                        const Contestant& contestant, const LanguageModel& model,
                        std::uint64_t seed);

}  // namespace volvelle
