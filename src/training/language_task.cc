#include "volvelle/training/language_task.h"

#include <cmath>
#include <string>
#include <utility>

#include "training/row_draws.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

constexpr std::int64_t kFollowing = 4;  // words that may follow a word
constexpr std::int64_t kChosen = 2;     // of them, where the word before it is known

void check(const LanguageOptions& options) {
  const std::pair<const char*, std::int64_t> counts[] = {
      {"words", options.words}, {"names", options.names},   {"values", options.values},
      {"pause", options.pause}, {"tokens", options.tokens}, {"batch", options.batch}};
  constexpr std::int64_t kMost = 1 << 20;
  for (const auto& [name, count] : counts) {
    if (count >= 1 && count <= kMost) continue;
    throw InvalidArgument("[language] " + std::string(name) + " " + std::to_string(count) +
                          " must lie between 1 and " + std::to_string(kMost));
  }
  if (options.words % kFollowing != 0 || options.words < 2 * kFollowing) {
    throw InvalidArgument("[language] words " + std::to_string(options.words) +
                          " must be a multiple of 4, 8 at least: each is followed by four");
  }
  if (options.values < 2) {
    throw InvalidArgument("[language] with a single value there is nothing to tell apart");
  }
  if (options.pause < 2) {
    throw InvalidArgument("[language] a pause of 1 leaves no phrase; 2 or more");
  }
}

/// One sequence as it grows.
class Writer {
 public:
  Writer(const LanguageOptions& options, const std::vector<std::int64_t>& successors,
         std::int64_t batch, std::int64_t row)
      : options_(options),
        successors_(successors),
        draws_(options.seed, batch, row),
        values_(static_cast<std::size_t>(options.names)),
        told_(static_cast<std::size_t>(options.names), -1) {}

  struct Token {
    std::int64_t id = 0;
    LanguageKind kind = LanguageKind::word;
    double best = 0;
    std::int64_t distance = 0;
  };

  Token next() {
    const Token token = draw();
    ++place_;
    return token;
  }

 private:
  Token draw() {
    if (asked_ >= 0) return answer();
    if (last_ >= 0 && draws_.below(options_.pause) == 0) return statement_or_question();
    return word();
  }

  Token word() {
    Token token{.kind = LanguageKind::word, .best = 0};
    if (last_ < 0) {
      token.id = draws_.below(options_.words);
      token.best = log_of(options_.words);
    } else {
      const std::int64_t* following = successors_.data() + last_ * kFollowing;
      const bool known = before_ >= 0;
      token.id = known ? following[(before_ % 2) * kChosen + draws_.below(kChosen)]
                       : following[draws_.below(kFollowing)];
      token.best = log_of(known ? kChosen : kFollowing);
    }
    before_ = last_;
    last_ = token.id;
    return token;
  }

  Token statement_or_question() {
    before_ = last_ = -1;
    const auto stated = static_cast<std::int64_t>(stated_.size());
    if (draws_.below(2) == 0 && stated > 0) {
      asked_ = stated_[static_cast<std::size_t>(draws_.below(stated))];
      return {.id = options_.words + options_.names * options_.values + asked_,
              .kind = LanguageKind::question};
    }
    const std::int64_t name = draws_.below(options_.names);
    const auto at = static_cast<std::size_t>(name);
    if (told_[at] < 0) stated_.push_back(name);
    values_[at] = draws_.below(options_.values);
    told_[at] = place_;
    return {.id = options_.words + name * options_.values + values_[at],
            .kind = LanguageKind::statement};
  }

  // All that can be known of it is known: it loses nothing.
  Token answer() {
    const auto at = static_cast<std::size_t>(std::exchange(asked_, -1));
    Token token{.id = language_first_answer(options_) + values_[at], .kind = LanguageKind::answer};
    token.distance = place_ - 1 - told_[at];
    told_[at] = place_;
    return token;
  }

  static double log_of(std::int64_t count) { return std::log(static_cast<double>(count)); }

  const LanguageOptions& options_;
  const std::vector<std::int64_t>& successors_;
  RowDraws draws_;
  std::vector<std::int64_t> values_;      // by name
  std::vector<std::int64_t> told_;        // by name: where its value stood last, -1: nowhere
  std::vector<std::int64_t> stated_;      // names, in the order in which they came
  std::int64_t last_ = -1, before_ = -1;  // words of this phrase
  std::int64_t asked_ = -1, place_ = 0;
};

}  // namespace

std::int64_t language_first_answer(const LanguageOptions& options) {
  check(options);
  return options.words + options.names * options.values + options.names;
}

std::int64_t language_vocabulary(const LanguageOptions& options) {
  return language_first_answer(options) + options.values;
}

std::vector<std::int64_t> language_successors(const LanguageOptions& options) {
  check(options);
  // A place in a circle of all words, shifted by quarters: every word follows four others, so all
  // are equally frequent. No batch has the number -1.
  const std::vector<std::int64_t> circle =
      RowDraws(options.grammar, -1, 0).different(options.words, options.words);
  std::vector<std::int64_t> successors;
  for (std::int64_t word = 0; word < options.words; ++word) {
    for (std::int64_t i = 0; i < kFollowing; ++i) {
      const std::int64_t place = (word + i * (options.words / kFollowing)) % options.words;
      successors.push_back(circle[static_cast<std::size_t>(place)]);
    }
  }
  return successors;
}

LanguageBatch language_batch(const LanguageOptions& options, std::int64_t index) {
  const std::vector<std::int64_t> successors = language_successors(options);
  if (index < 0) {
    throw InvalidArgument("[language] batch " + std::to_string(index) + ": counted from 0");
  }
  LanguageBatch batch{.ids = Tensor(DType::int64, {options.batch, options.tokens}),
                      .labels = Tensor(DType::int64, {options.batch, options.tokens}),
                      .kinds = {},
                      .best = {},
                      .distances = {}};
  auto* ids = batch.ids.data<std::int64_t>();
  auto* labels = batch.labels.data<std::int64_t>();
  for (std::int64_t row = 0; row < options.batch; ++row) {
    Writer writer(options, successors, index, row);
    std::int64_t id = writer.next().id;
    for (std::int64_t i = 0; i < options.tokens; ++i) {
      const Writer::Token label = writer.next();
      *ids++ = std::exchange(id, label.id);
      const bool asked = label.kind == LanguageKind::word || label.kind == LanguageKind::answer;
      *labels++ = asked ? label.id : CrossEntropyOptions().ignore_index;
      batch.kinds.push_back(label.kind);
      batch.best.push_back(label.best);
      batch.distances.push_back(label.distance);
    }
  }
  return batch;
}

}  // namespace volvelle
