#include "studies/extrapolation_tables.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "studies/extrapolation_findings.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr int kLossDigits = 3;

StudyCell cell_of(const std::optional<double>& value) {
  return value ? StudyCell(*value) : StudyCell();
}
StudyCell cell_of(double value) { return std::isnan(value) ? StudyCell() : StudyCell(value); }

/// Said where there are several tasks.
StudyColumn task_column(const Contest& contest) {
  return {"task", contest.tasks.size() > 1 ? "task" : "", 0};
}

/// As many columns as say which row it is, with the task where it is shown.
int identifying(const Contest& contest, int without_task) {
  return without_task + (contest.tasks.size() > 1 ? 1 : 0);
}

/// Parts of all tasks, each once.
std::vector<ContestPart> parts_of(const Contest& contest) {
  std::vector<ContestPart> parts;
  for (const auto& task : contest.tasks) {
    for (const ContestPart& part : task->parts()) {
      const auto same = std::find_if(parts.begin(), parts.end(), [&](const ContestPart& other) {
        return other.key == part.key;
      });
      if (same == parts.end()) parts.push_back(part);
    }
  }
  return parts;
}

/// The figures of a part, by its key; null where the task has none such.
const PartFigures* part_named(const ExtrapolationTask& task, const BandFigures& figures,
                              const std::string& key) {
  const std::vector<ContestPart> parts = task.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].key == key) return &figures.parts[i];
  }
  return nullptr;
}

std::string loss_title(const Contest& contest) {
  const bool known = std::all_of(contest.tasks.begin(), contest.tasks.end(),
                                 [](const auto& task) { return task->knows_best(); });
  return known ? "loss above the best possible" : "loss (above the best possible where known)";
}

StudyTable run_table(const ExtrapolationOptions& options, const Contest& contest) {
  StudyTable table{.key = "rows",
                   .title = "Every run: accuracy at the training length, and " +
                            loss_title(contest) + " by band of positions",
                   .columns = {task_column(contest),
                               {"scheme", "scheme", 0},
                               {"seed", "seed", 0},
                               {"counts", "counts", 0}},
                   .rows = {},
                   .identifying = identifying(contest, 2),
                   .text_rows = 1000};
  for (const ContestPart& part : parts_of(contest)) {
    table.columns.push_back({part.key + "_right", part.title, 1, StudyForm::percent});
  }
  for (std::size_t band = 0; band < band_count(options); ++band) {
    const std::string name = band_name(options, band);
    table.columns.push_back({"loss_" + name, name, kLossDigits});
  }
  for (std::size_t band = 1; band < band_count(options); ++band) {
    table.columns.push_back({"window_loss_" + band_name(options, band), "", kLossDigits});
  }
  for (const ContestEntry& entry : contest.entries) {
    const ExtrapolationTask& task = *contest.tasks[entry.task];
    for (std::size_t seed = 0; seed < entry.outcomes.size(); ++seed) {
      const ContestOutcome& outcome = entry.outcomes[seed];
      if (!outcome.finished) continue;
      std::vector<StudyCell> cells{task.name(), contest.contestants[entry.contestant].name,
                                   static_cast<std::int64_t>(options.seed + seed),
                                   outcome.counts(task.parts())};
      for (const ContestPart& part : parts_of(contest)) {
        const PartFigures* figures = part_named(task, outcome.seen, part.key);
        cells.push_back(figures == nullptr ? StudyCell() : cell_of(figures->accuracy()));
      }
      for (std::size_t band = 0; band < band_count(options); ++band) {
        const BandFigures* figures = figures_in(outcome, band);
        cells.push_back(figures == nullptr ? StudyCell() : cell_of(shown_loss(*figures)));
      }
      for (std::size_t band = 1; band < band_count(options); ++band) {
        const BandFigures* figures = windows_in(outcome, band);
        cells.push_back(figures == nullptr ? StudyCell() : cell_of(shown_loss(*figures)));
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

StudyTable band_table(const ExtrapolationOptions& options, const Contest& contest) {
  StudyTable table{
      .key = "bands",
      .title = "By band, over the runs that count: median and range of the " + loss_title(contest) +
               "; the same network in windows of " + std::to_string(options.train) +
               " tokens; the share that is right (near: told less than the training length back, "
               "far: further)",
      .columns = {task_column(contest),
                  {"scheme", "scheme", 0},
                  {"band", "band", 0},
                  {"runs", "runs", 0},
                  {"loss", "loss", kLossDigits},
                  {"loss_low", "least", kLossDigits},
                  {"loss_high", "most", kLossDigits},
                  {"window_loss", "window", kLossDigits},
                  {"window_gain", "", kLossDigits}},
      .rows = {},
      .identifying = identifying(contest, 2),
      .text_rows = 1000};
  const std::vector<ContestPart> parts = parts_of(contest);
  for (const ContestPart& part : parts) {
    table.columns.push_back(
        {part.key + "_near", part.has_far ? "near" : part.title, 0, StudyForm::percent});
    if (!part.has_far) continue;
    table.columns.push_back({part.key + "_far", "far", 0, StudyForm::percent});
    table.columns.push_back({part.key + "_far_window", "", 0, StudyForm::percent});
  }
  for (const ContestEntry& entry : contest.entries) {
    const ExtrapolationTask& task = *contest.tasks[entry.task];
    for (std::size_t band = 0; band < band_count(options); ++band) {
      const std::vector<double> losses = values_in(contest, entry, band, false, shown_loss);
      const SeedSpread spread = spread_of(losses);
      const auto known = [&](double value) {
        return losses.empty() ? StudyCell() : cell_of(value);
      };
      const bool longer = band > 0;
      std::vector<StudyCell> cells{
          task.name(),
          contest.contestants[entry.contestant].name,
          band_name(options, band),
          static_cast<std::int64_t>(losses.size()),
          known(spread.median),
          known(spread.minimum),
          known(spread.maximum),
          longer ? cell_of(median_of(values_in(contest, entry, band, true, shown_loss)))
                 : StudyCell(),
          longer ? cell_of(window_pairs(contest, entry, band).gain) : StudyCell()};
      for (const ContestPart& part : parts) {
        const auto median = [&](bool windowed, double (PartFigures::*share)() const) {
          return cell_of(
              median_of(values_in(contest, entry, band, windowed, [&](const BandFigures& figures) {
                const PartFigures* one = part_named(task, figures, part.key);
                return one == nullptr ? std::nan("") : (one->*share)();
              })));
        };
        cells.push_back(median(false, &PartFigures::near_accuracy));
        if (!part.has_far) continue;
        cells.push_back(median(false, &PartFigures::far_accuracy));
        cells.push_back(longer ? median(true, &PartFigures::far_accuracy) : StudyCell());
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

StudyTable scheme_table(const ExtrapolationOptions& options, const Contest& contest) {
  StudyTable table{.key = "schemes",
                   .title =
                       "What was trained: parameters of the network and, of these, of the "
                       "scheme (once); the rate that was chosen; runs that count",
                   .columns = {task_column(contest),
                               {"scheme", "scheme", 0},
                               {"positions", "in training", 0},
                               {"tested", "", 0},
                               {"relative", "relative", 0},
                               {"end", "end", 0},
                               {"parameters", "parameters", 0},
                               {"scheme_parameters", "scheme", 0},
                               {"rate", "rate", 4, StudyForm::rounded},
                               {"counted", "count", 0},
                               {"runs", "of", 0}},
                   .rows = {},
                   .identifying = identifying(contest, 1),
                   .text_rows = 1000};
  const std::int64_t longest = *std::max_element(options.test.begin(), options.test.end());
  for (const ContestEntry& entry : contest.entries) {
    const Contestant& contestant = contest.contestants[entry.contestant];
    const auto& end = contestant.facts.positions;
    table.rows.push_back(
        {contest.tasks[entry.task]->name(), contestant.name, contestant.trained,
         contestant.tested(longest, options.train),
         contestant.facts.shift_keeps == ShiftKeeps::everything,
         end ? StudyCell(*end) : StudyCell(), entry.parameters, contestant.facts.parameters,
         entry.rate > 0 ? StudyCell(entry.rate) : StudyCell(),
         static_cast<std::int64_t>(counted(contest, entry).size()), finished_runs(entry)});
  }
  return table;
}

/// Often and rarely seen rows, seed by seed.
StudyTable rows_table(const ExtrapolationOptions& options, const Contest& contest) {
  const std::int64_t last = options.train - options.train / 4;
  StudyTable table{
      .key = "learned_rows",
      .title =
          "Rows of the learned table, trained on sequences that reach the last quarter "
          "(positions " +
          std::to_string(last) + " to " + std::to_string(options.train - 1) +
          ") always, or once in " + std::to_string(kRareEvery) +
          " steps: loss before it and in it, and how far training moved the rows",
      .columns = {task_column(contest),
                  {"full_every", "full steps: 1 in", 0},
                  {"seed", "seed", 0},
                  {"loss_before", "before", kLossDigits},
                  {"loss_last", "last quarter", kLossDigits},
                  {"change_before", "moved before", 4},
                  {"change_last", "in it", 4}},
      .rows = {},
      .identifying = identifying(contest, 2),
      .text_rows = 1000};
  for (const RowsEntry& entry : contest.rows) {
    for (std::size_t seed = 0; seed < entry.outcomes.size(); ++seed) {
      const RowsOutcome& outcome = entry.outcomes[seed];
      if (!outcome.finished) continue;
      table.rows.push_back(
          {contest.tasks[entry.task]->name(), entry.full_every,
           static_cast<std::int64_t>(options.seed + seed), cell_of(shown_loss(outcome.often)),
           cell_of(shown_loss(outcome.last_quarter)), outcome.often_change, outcome.last_change});
    }
  }
  return table;
}

StudyTable order_table(const ExtrapolationOptions& options, const Contest& contest) {
  StudyTable table{.key = "order",
                   .title = "Which of two marks came first: accuracy (half is chance)",
                   .columns = {{"network", "network", 0},
                               {"seed", "seed", 0},
                               {"accuracy", "accuracy", 1, StudyForm::percent},
                               {"learned", "learned", 0}},
                   .rows = {},
                   .identifying = 2};
  for (const OrderEntry& entry : contest.order) {
    const std::string name =
        (entry.run.positions == "none" ? "without positions" : entry.run.positions) +
        std::string(entry.run.causal ? ", causal" : ", both ways");
    for (std::size_t seed = 0; seed < entry.outcomes.size(); ++seed) {
      const OrderOutcome& outcome = entry.outcomes[seed];
      if (!outcome.finished) continue;
      table.rows.push_back({name, static_cast<std::int64_t>(options.seed + seed), outcome.accuracy,
                            outcome.accuracy >= kOrderLearned});
    }
  }
  return table;
}

}  // namespace

std::vector<StudyTable> extrapolation_tables(const ExtrapolationOptions& options,
                                             const Contest& contest) {
  std::vector<StudyTable> tables{run_table(options, contest), band_table(options, contest),
                                 scheme_table(options, contest)};
  if (!contest.rows.empty()) tables.push_back(rows_table(options, contest));
  tables.push_back(order_table(options, contest));
  return tables;
}

}  // namespace volvelle
