#include "studies/extrapolation_task.h"

#include <algorithm>

#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/training/distant_recall_task.h"
#include "volvelle/training/language_task.h"

namespace volvelle {
namespace {

// Far from any step: batches of tests have numbers from here on, one for each row.
constexpr std::int64_t kTestBatches = std::int64_t{1} << 40;

/// Rows that were made one by one, as one batch.
template <class MakeRow>
ContestBatch joined(std::int64_t rows, std::int64_t tokens, MakeRow make) {
  ContestBatch all{.ids = Tensor(DType::int64, {rows, tokens}),
                   .labels = Tensor(DType::int64, {rows, tokens}),
                   .known = {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    const ContestBatch one = make(row);
    std::copy_n(one.ids.data<std::int64_t>(), tokens, all.ids.data<std::int64_t>() + row * tokens);
    std::copy_n(one.labels.data<std::int64_t>(), tokens,
                all.labels.data<std::int64_t>() + row * tokens);
    all.known.insert(all.known.end(), one.known.begin(), one.known.end());
  }
  return all;
}

class LanguageContest : public ExtrapolationTask {
 public:
  explicit LanguageContest(std::int64_t train) : train_(train) {}

  std::string name() const override { return "language"; }
  std::string sentence() const override {
    const LanguageOptions language;
    return "a generated language of " + std::to_string(vocabulary()) +
           " tokens. Near: the next word is one of two, by the last word and the one before it. "
           "Far: of " +
           std::to_string(language.names) +
           " names, which are stated with changing values at random places, questions ask for the "
           "last value. Words and answers are asked for";
  }
  std::int64_t vocabulary() const override { return language_vocabulary({}); }
  std::vector<ContestPart> parts() const override {
    return {{"words", "words", 0.5, 0.9, false},
            {"answers", "answers", 1 / static_cast<double>(LanguageOptions().values), 0.75, true}};
  }
  bool knows_best() const override { return true; }

  ContestBatch for_training(std::uint64_t seed, std::int64_t step, std::int64_t rows,
                            std::int64_t tokens) const override {
    return batch(seed, step, rows, tokens);
  }
  ContestBatch for_test(std::uint64_t seed, std::int64_t first, std::int64_t rows,
                        std::int64_t tokens) const override {
    return joined(rows, tokens, [&](std::int64_t row) {
      return batch(seed, kTestBatches + first + row, 1, tokens);
    });
  }

 private:
  ContestBatch batch(std::uint64_t seed, std::int64_t index, std::int64_t rows,
                     std::int64_t tokens) const {
    const LanguageOptions options{.tokens = tokens, .batch = rows, .seed = seed, .grammar = seed};
    LanguageBatch made = language_batch(options, index);
    const std::vector<std::int64_t> successors = language_successors(options);
    ContestBatch batch{.ids = std::move(made.ids), .labels = std::move(made.labels), .known = {}};
    const auto* ids = batch.ids.data<std::int64_t>();
    for (std::int64_t i = 0; i < rows * tokens; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ContestLabel& label = batch.known.emplace_back();
      label.best = made.best[at];
      const std::int64_t next = batch.labels.data<std::int64_t>()[i];
      if (made.kinds[at] == LanguageKind::answer) {
        label.part = 1;
        label.right = {next, next};
        label.far = made.distances[at] >= train_;
      } else if (made.kinds[at] == LanguageKind::word && i % tokens > 0 && ids[i] < options.words &&
                 ids[i - 1] < options.words) {
        const auto allowed = static_cast<std::size_t>(ids[i] * 4 + ids[i - 1] % 2 * 2);
        label.part = 0;
        label.right = {successors[allowed], successors[allowed + 1]};
      }
    }
    return batch;
  }

  std::int64_t train_;
};

class RecallContest : public ExtrapolationTask {
 public:
  explicit RecallContest(std::int64_t train) : train_(train) {}

  std::string name() const override { return "recall"; }
  std::string sentence() const override {
    return "recall at a distance: " + std::to_string(DistantRecallOptions().names) +
           " names are stated with their values, then come fillers, and among them names as "
           "questions, whose value is asked for and never shown again";
  }
  std::int64_t vocabulary() const override { return distant_recall_vocabulary({}); }
  std::vector<ContestPart> parts() const override {
    return {
        {"answers", "answers", 1 / static_cast<double>(DistantRecallOptions().values), 0.9, true}};
  }
  bool knows_best() const override { return true; }

  ContestBatch for_training(std::uint64_t seed, std::int64_t step, std::int64_t rows,
                            std::int64_t tokens) const override {
    return batch(seed, step, rows, tokens);
  }
  ContestBatch for_test(std::uint64_t seed, std::int64_t first, std::int64_t rows,
                        std::int64_t tokens) const override {
    return joined(rows, tokens, [&](std::int64_t row) {
      return batch(seed, kTestBatches + first + row, 1, tokens);
    });
  }

 private:
  ContestBatch batch(std::uint64_t seed, std::int64_t index, std::int64_t rows,
                     std::int64_t tokens) const {
    const DistantRecallOptions options{.tokens = tokens, .batch = rows, .seed = seed};
    DistantRecallBatch made = distant_recall_batch(options, index);
    ContestBatch batch{.ids = std::move(made.ids), .labels = std::move(made.labels), .known = {}};
    for (std::int64_t i = 0; i < rows * tokens; ++i) {
      ContestLabel& label = batch.known.emplace_back();
      const std::int64_t value = batch.labels.data<std::int64_t>()[i];
      if (value < 0) continue;
      label.part = 0;
      label.right = {value, value};
      // Where the statement stands among the first tokens is not known here: the last of them.
      label.far = i % tokens - (options.names - 1) >= train_;
    }
    return batch;
  }

  std::int64_t train_;
};

}  // namespace

std::unique_ptr<ExtrapolationTask> make_language_contest(std::int64_t train) {
  return std::make_unique<LanguageContest>(train);
}

std::unique_ptr<ExtrapolationTask> make_recall_contest(std::int64_t train) {
  if (train <= DistantRecallOptions().names) {
    throw InvalidArgument(
        "[extrapolation] recall needs more than " + std::to_string(DistantRecallOptions().names) +
        " tokens of training, as many as statements; not " + std::to_string(train));
  }
  return std::make_unique<RecallContest>(train);
}

std::vector<std::unique_ptr<ExtrapolationTask>> extrapolation_tasks(
    const ExtrapolationOptions& options) {
  const std::vector<std::string> known{"language", "recall", "text", "all"};
  const std::string task =
      options.task.empty() ? (options.text.empty() ? "language" : "text") : options.task;
  if (std::count(known.begin(), known.end(), task) == 0) {
    throw InvalidArgument("[extrapolation] unknown task '" + task +
                          "': language, recall, text or all" + suggestion(task, known));
  }
  if (task == "text" && options.text.empty()) {
    throw InvalidArgument("[extrapolation] the task text needs a text that is not empty");
  }
  if (!options.text.empty() && task != "text" && task != "all") {
    throw InvalidArgument("[extrapolation] a text is for the tasks text and all, not for " + task);
  }
  std::vector<std::unique_ptr<ExtrapolationTask>> tasks;
  if (task == "language" || task == "all") tasks.push_back(make_language_contest(options.train));
  if (task == "recall" || task == "all") tasks.push_back(make_recall_contest(options.train));
  if (!options.text.empty()) {
    const std::int64_t longest = *std::max_element(options.test.begin(), options.test.end());
    tasks.push_back(make_text_contest(options.text, longest));
  }
  return tasks;
}

}  // namespace volvelle
