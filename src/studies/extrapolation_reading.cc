#include "studies/extrapolation_reading.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "studies/extrapolation_findings.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

// A loss that grew by no more than this holds.
constexpr double kHolds = 0.05;

std::string percent(double share) { return fixed(100 * share, 0) + "%"; }

/// A scheme with a figure of it.
struct Placed {
  std::string name;
  double value = 0;
};

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

/// One task of the contest, as a reader of it.
class TaskReading {
 public:
  TaskReading(const ExtrapolationOptions& options, const Contest& contest, std::size_t task)
      : options_(options), contest_(contest), task_(task), parts_(contest.tasks[task]->parts()) {
    for (const ContestEntry& entry : contest.entries) {
      if (entry.task == task) entries_.push_back(&entry);
    }
  }

  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    const auto add = [&](std::string sentence) {
      if (!sentence.empty()) all.push_back(std::move(sentence));
    };
    add(counted_sentence());
    if (!any_counted()) return all;
    const std::size_t bands = band_count(options_);
    for (std::size_t band = 0; band < bands; ++band) {
      if (band == 0 || band == 1 || band + 1 == bands) add(order_sentence(band));
    }
    if (bands > 1) {
      add(holding_sentence(bands - 1));
      add(window_sentence(bands - 1));
      for (std::size_t part = 0; part < parts_.size(); ++part) {
        if (parts_[part].has_far) add(far_sentence(bands - 1, part));
      }
    }
    add(yarn_sentence());
    for (const ContestEntry* entry : entries_) add(end_sentence(*entry));
    add(rows_sentence());
    return all;
  }

 private:
  std::string name(const ContestEntry& entry) const {
    return contest_.contestants[entry.contestant].name;
  }
  bool any_counted() const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const ContestEntry* entry) {
      return !counted(contest_, *entry).empty();
    });
  }

  std::string counted_sentence() const {
    std::int64_t runs = 0, counts = 0;
    std::vector<std::string> missing;
    for (const ContestEntry* entry : entries_) {
      const auto own = static_cast<std::int64_t>(counted(contest_, *entry).size());
      runs += finished_runs(*entry);
      counts += own;
      if (own < finished_runs(*entry)) {
        missing.push_back(name(*entry) + " " + std::to_string(own) + " of " +
                          std::to_string(finished_runs(*entry)));
      }
    }
    if (runs == 0) return "Nothing was measured.";
    std::vector<std::string> asked;
    for (const ContestPart& part : parts_) {
      asked.push_back(percent(part.pass) + " of the " + part.title);
    }
    return std::to_string(counts) + " of " + std::to_string(runs) + " runs had " + list(asked) +
           " right at the training length, and count" +
           (missing.empty() ? "." : ": all but " + list(missing) + ".");
  }

  std::vector<Placed> placed(std::size_t band, const std::function<double(const BandFigures&)>& of,
                             bool windowed = false) const {
    std::vector<Placed> all;
    for (const ContestEntry* entry : entries_) {
      if (const auto median = median_of(values_in(contest_, *entry, band, windowed, of))) {
        all.push_back({name(*entry), *median});
      }
    }
    return all;
  }

  std::string order_sentence(std::size_t band) const {
    std::vector<Placed> all = placed(band, shown_loss);
    std::stable_sort(all.begin(), all.end(),
                     [](const Placed& a, const Placed& b) { return a.value < b.value; });
    std::vector<std::string> texts;
    for (const Placed& one : all) texts.push_back(one.name + " " + fixed(one.value, 3));
    const std::string where =
        band == 0 ? "At positions seen in training" : "At " + band_name(options_, band);
    return where + " the loss " +
           (contest_.tasks[task_]->knows_best() ? "above the best possible " : "") +
           "is: " + list(texts) + '.';
  }

  std::string holding_sentence(std::size_t band) const {
    std::vector<std::string> holding, failing;
    for (const ContestEntry* entry : entries_) {
      const auto seen = median_of(values_in(contest_, *entry, 0, false, shown_loss));
      if (!seen || !median_of(values_in(contest_, *entry, band, false, shown_loss))) continue;
      std::size_t first = 1;
      for (; first <= band; ++first) {
        const auto there = median_of(values_in(contest_, *entry, first, false, shown_loss));
        if (there && *there > *seen + kHolds) break;
      }
      if (first > band) {
        holding.push_back(name(*entry));
      } else {
        failing.push_back(name(*entry) + " (" + band_name(options_, first) + ")");
      }
    }
    std::string text = holding.empty()
                           ? "No scheme keeps its loss within " + rounded(kHolds, 3) +
                                 " of what it was in " + "training over all bands."
                           : "Within " + rounded(kHolds, 3) + " of the loss in training up to " +
                                 band_name(options_, band) + ": " + list(holding) + '.';
    if (!failing.empty()) text += " First worse by more, and where: " + list(failing) + '.';
    return text;
  }

  std::string window_sentence(std::size_t band) const {
    std::vector<std::string> better, worse, mixed;
    for (const ContestEntry* entry : entries_) {
      const WindowPairs pairs = window_pairs(contest_, *entry, band);
      if (!pairs.gain) continue;
      const std::string text = name(*entry) + " (" + fixed(std::abs(*pairs.gain), 3) + ")";
      if (pairs.window_better == 0) {
        better.push_back(text);
      } else if (pairs.whole_better == 0) {
        worse.push_back(text);
      } else {
        mixed.push_back(name(*entry));
      }
    }
    std::string text = "Against the same weights in a window of " + std::to_string(options_.train) +
                       " tokens, at " + band_name(options_, band) + ": ";
    if (!better.empty()) text += "all runs lose less by seeing everything with " + list(better);
    if (!worse.empty()) {
      text += (better.empty() ? "" : "; ") + std::string("all lose more with ") + list(worse);
    }
    if (!mixed.empty()) {
      text += (better.empty() && worse.empty() ? "" : "; ") +
              std::string("some runs this, some that with ") + list(mixed);
    }
    return better.empty() && worse.empty() && mixed.empty() ? "" : text + '.';
  }

  std::string far_sentence(std::size_t band, std::size_t part) const {
    const auto far = [part](const BandFigures& figures) {
      return figures.parts[part].far_accuracy();
    };
    std::vector<Placed> all = placed(band, far);
    if (all.empty()) return "";
    std::stable_sort(all.begin(), all.end(),
                     [](const Placed& a, const Placed& b) { return a.value > b.value; });
    std::vector<std::string> texts, blind;
    const std::vector<Placed> windows = placed(band, far, true);
    for (const Placed& one : all) {
      texts.push_back(one.name + " " + percent(one.value));
      for (const Placed& window : windows) {
        if (window.name == one.name && one.value < window.value + 0.1) blind.push_back(one.name);
      }
    }
    std::string text = "Of the " + parts_[part].title + " that were told " +
                       std::to_string(options_.train) + " tokens back or more, at " +
                       band_name(options_, band) + " right are: " + list(texts) + " (a guess " +
                       percent(parts_[part].guess) + ").";
    if (!blind.empty()) {
      text +=
          " No better at these than in the window, or by less than a tenth: " + list(blind) + '.';
    }
    return text;
  }

  /// Weights that are the same, with and without rescaled angles.
  std::string yarn_sentence() const {
    const ContestEntry* yarn = nullptr;
    for (const ContestEntry* entry : entries_) {
      if (contest_.contestants[entry->contestant].rescaled) yarn = entry;
    }
    if (yarn == nullptr) return "";
    const ContestEntry* plain = nullptr;
    for (const ContestEntry* entry : entries_) {
      if (entry != yarn && contest_.contestants[entry->contestant].trained ==
                               contest_.contestants[yarn->contestant].trained) {
        plain = entry;
      }
    }
    if (plain == nullptr) return "";
    std::vector<std::string> texts;
    for (std::size_t band = 1; band < band_count(options_); ++band) {
      const std::vector<double> with = values_in(contest_, *yarn, band, false, shown_loss);
      const std::vector<double> without = values_in(contest_, *plain, band, false, shown_loss);
      std::int64_t better = 0;
      for (std::size_t i = 0; i < std::min(with.size(), without.size()); ++i) {
        better += with[i] < without[i] ? 1 : 0;
      }
      if (with.empty()) continue;
      texts.push_back("at " + band_name(options_, band) + " in " + std::to_string(better) + " of " +
                      std::to_string(with.size()) + " (" + fixed(lower_median(with), 3) +
                      " against " + fixed(lower_median(without), 3) + ")");
    }
    if (texts.empty()) return "";
    return "Rescaled angles on the same weights lose less " + list(texts) + '.';
  }

  std::string end_sentence(const ContestEntry& entry) const {
    const Contestant& contestant = contest_.contestants[entry.contestant];
    const std::int64_t longest = *std::max_element(options_.test.begin(), options_.test.end());
    if (contestant.reaches(longest)) return "";
    return contestant.name + " has " + grouped(*contestant.facts.positions) +
           " positions and cannot go further: a longer test is refused. What its weights do beyond "
           "is the window's.";
  }

  std::string rows_sentence() const {
    const RowsEntry* always = nullptr;
    const RowsEntry* rarely = nullptr;
    for (const RowsEntry& entry : contest_.rows) {
      if (entry.task == task_) (entry.full_every == 1 ? always : rarely) = &entry;
    }
    if (always == nullptr || rarely == nullptr) return "";
    const auto median = [](const RowsEntry& entry,
                           const std::function<double(const RowsOutcome&)>& of) {
      std::vector<double> values;
      for (const RowsOutcome& outcome : entry.outcomes) {
        if (outcome.finished) values.push_back(of(outcome));
      }
      return median_of(values);
    };
    const auto last = [](const RowsOutcome& outcome) { return shown_loss(outcome.last_quarter); };
    const auto before = [](const RowsOutcome& outcome) { return shown_loss(outcome.often); };
    const auto moved = [](const RowsOutcome& outcome) {
      return outcome.last_change / outcome.often_change;
    };
    const auto always_last = median(*always, last), rarely_last = median(*rarely, last);
    if (!always_last || !rarely_last) return "";
    return "A learned table whose last quarter of rows is seen in one step of " +
           std::to_string(kRareEvery) + " loses " + fixed(*rarely_last, 3) + " there (" +
           fixed(*median(*rarely, before), 3) + " before it); seen in every step " +
           fixed(*always_last, 3) + " (" + fixed(*median(*always, before), 3) +
           "). Training moved those rows " + fixed(*median(*rarely, moved), 2) +
           " times as far as the others, against " + fixed(*median(*always, moved), 2) + '.';
  }

  const ExtrapolationOptions& options_;
  const Contest& contest_;
  std::size_t task_;
  std::vector<ContestPart> parts_;
  std::vector<const ContestEntry*> entries_;
};

/// Of the networks on the order task, except the control.
std::string mask_sentence(const Contest& contest) {
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < contest.order.size(); ++i) {
    const OrderEntry& entry = contest.order[i];
    std::vector<double> values;
    for (const OrderOutcome& outcome : entry.outcomes) {
      if (outcome.finished) values.push_back(outcome.accuracy);
    }
    if (values.empty()) continue;
    const SeedSpread spread = spread_of(values);
    texts.push_back((entry.run.causal ? "without positions but with a causal mask "
                                      : "with " + entry.run.positions + " and no mask ") +
                    percent(spread.median) + " (" + percent(spread.minimum) + " to " +
                    percent(spread.maximum) + ")");
  }
  if (texts.empty()) return "";
  return "On the order task, where half is chance, right are " + list(texts) +
         ": a mask alone tells order.";
}

}  // namespace

std::vector<std::string> extrapolation_reading(const ExtrapolationOptions& options,
                                               const Contest& contest) {
  std::vector<std::string> reading;
  for (std::size_t task = 0; task < contest.tasks.size(); ++task) {
    const std::string prefix =
        contest.tasks.size() > 1 ? contest.tasks[task]->name() + ": " : std::string();
    for (const std::string& sentence : TaskReading(options, contest, task).sentences()) {
      reading.push_back(prefix + sentence);
    }
  }
  if (std::string sentence = mask_sentence(contest); !sentence.empty()) {
    reading.push_back(std::move(sentence));
  }
  return reading;
}

}  // namespace volvelle
