#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct ExtrapolationOptions {
  /// Schemes of nn/positions/catalog.h, by name (then with the numbers of the study: a learned
  /// table of `train` rows, the largest distances of T5 and of a clamped or relative table `train`
  /// at most) or with settings of their own; and "rotary-yarn", which is what rotary has learned,
  /// its angles rescaled for each test length.
  std::vector<std::string> schemes = {"none",        "sinusoidal", "learned", "rotary",
                                      "rotary-yarn", "alibi",      "t5",      "clamped"};
  std::int64_t train = 64;                               ///< tokens of a sequence in training
  std::vector<std::int64_t> test = {64, 128, 256, 512};  ///< of tests; `train` always is one
  /// "language" (training/language_task.h), "recall" (training/distant_recall_task.h), "text", or
  /// "all" there are; empty: text where one is given, else language.
  std::string task = {};
  std::string text = {};  ///< bytes to learn: nine tenths, the rest is tested
  std::vector<double> rates = {1e-3, 3e-3, 1e-2};  ///< tried with the first seed of each scheme
  std::int64_t steps = 1500;
  std::int64_t seeds = 5;
  std::uint64_t seed = 0;  ///< the first
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t layers = 2;
  std::int64_t feed_forward = 0;  ///< 0: 2 * width
  std::int64_t batch = 16;
  std::int64_t test_rows = 48;  ///< sequences of a test
};

/// Fewer seeds, steps and lengths, for less than a minute.
VOLVELLE_API ExtrapolationOptions quick_extrapolation();

/// Trains small causal language models at one length, one for each scheme and seed, on the same
/// sequences with the same budget, and tests them at longer ones: loss by band of positions. Each
/// rate is tried with the first seed; the others take the one whose loss at the training length was
/// least, on sequences apart from the tests. A run counts only if it reached the accuracy that the
/// task states, at the training length; the others are counted and shown. Beside each band stands
/// the same network when it sees windows of the training length only, of which it is asked for the
/// last quarter: what it gains by looking further. Where a learned table is among the schemes, it
/// is trained once more with sequences that reach its last quarter only once in eight steps. The
/// control is a network without positions and without causal mask on the order task
/// (training/order_task.h), which it cannot learn.
/// Runs are spread over the threads, each on one; what comes out does not depend on how many there
/// are.
/// Throws: InvalidArgument for options out of range, unknown names (with a suggestion), sizes that
///         do not fit each other or the memory, largest distances beyond the training length.
VOLVELLE_API StudyResult study_extrapolation(const ExtrapolationOptions& options = {},
                                             const StudyRun& run = {});

}  // namespace volvelle
