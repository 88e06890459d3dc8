#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "volvelle/studies/extrapolation.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// What is known of a label besides its token.
struct ContestLabel {
  static constexpr int kUncounted = -1;

  double best = 0;        ///< the loss of whoever knows all that can be known
  int part = kUncounted;  ///< of the task's parts: whose accuracy it counts for
  bool far = false;       ///< what tells it stands further back than the training length
  std::array<std::int64_t, 2> right = {};  ///< tokens that count as right
};

/// Sequences of one length with their labels.
struct ContestBatch {
  Tensor ids;                       ///< (rows, tokens) int64
  Tensor labels;                    ///< (rows, tokens) int64; -100: not asked
  std::vector<ContestLabel> known;  ///< of each label
};

/// A part of a task with an accuracy of its own.
struct ContestPart {
  std::string key, title;  ///< "answers"
  double guess = 0;        ///< the accuracy of whoever does not use position or far tokens
  double pass = 0;         ///< what a run must reach at the training length to count
  bool has_far = false;    ///< labels of it may be told by far tokens
};

/// What the networks of the contest learn. A function of the seed: all schemes see the same
/// sequences. Safe to use from several threads.
class ExtrapolationTask {
 public:
  virtual ~ExtrapolationTask() = default;

  virtual std::string name() const = 0;
  virtual std::string sentence() const = 0;
  virtual std::int64_t vocabulary() const = 0;
  virtual std::vector<ContestPart> parts() const = 0;
  /// Whether `ContestLabel::best` is the best possible loss; else it is 0.
  virtual bool knows_best() const = 0;

  /// Sequences for step `step`, counted from 1.
  virtual ContestBatch for_training(std::uint64_t seed, std::int64_t step, std::int64_t rows,
                                    std::int64_t tokens) const = 0;
  /// Rows [first, first + rows) of those that no step sees. Row r of more tokens begins with row r
  /// of fewer.
  virtual ContestBatch for_test(std::uint64_t seed, std::int64_t first, std::int64_t rows,
                                std::int64_t tokens) const = 0;
};

/// The tasks that the options name. Throws InvalidArgument for an unknown one (with a suggestion),
/// and for a text that is too short.
std::vector<std::unique_ptr<ExtrapolationTask>> extrapolation_tasks(
    const ExtrapolationOptions& options);

std::unique_ptr<ExtrapolationTask> make_language_contest(std::int64_t train);
std::unique_ptr<ExtrapolationTask> make_recall_contest(std::int64_t train);
/// Throws InvalidArgument for a text of which a tenth is not longer than `longest` tokens.
std::unique_ptr<ExtrapolationTask> make_text_contest(const std::string& text, std::int64_t longest);

}  // namespace volvelle
