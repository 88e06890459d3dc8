#include "studies/extrapolation_contest.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>

#include "base/thread_pool.h"

namespace volvelle {
namespace {

/// Does many jobs at once, each on one thread, and tells how far they are.
class Jobs {
 public:
  Jobs(const StudyRun& run, std::int64_t expected)
      : run_(run), threads_(resolve_threads(run.threads)), expected_(expected) {}

  bool stopped() const { return stopped_; }

  void add(std::string what, std::function<void(const Jobs&)> job) {
    jobs_.push_back({std::move(what), std::move(job)});
  }
  /// All that were added since.
  void finish() {
    parallel_for(static_cast<std::int64_t>(jobs_.size()), threads_, [&](std::int64_t i) {
      const Job& job = jobs_[static_cast<std::size_t>(i)];
      if (stopped_) return;
      tell(job.what, 0);
      job.run(*this);
    });
    jobs_.clear();
  }
  /// For `train_run`: whether to go on, having done so much more work.
  std::function<bool(std::int64_t)> watch(const std::string& what, std::int64_t work) const {
    return [this, what, work](std::int64_t) {
      tell(what, work);
      return !stopped_;
    };
  }

 private:
  struct Job {
    std::string what;
    std::function<void(const Jobs&)> run;
  };

  // The caller's functions are called by one thread at a time.
  void tell(const std::string& what, std::int64_t work) const {
    const std::lock_guard lock(mutex_);
    done_ += work;
    if (run_.stopped && run_.stopped()) stopped_ = true;
    if (!run_.progress) return;
    run_.progress(std::min(1.0, static_cast<double>(done_) / static_cast<double>(expected_)), what);
  }

  const StudyRun& run_;
  const int threads_;
  const std::int64_t expected_;
  std::vector<Job> jobs_;
  mutable std::mutex mutex_;
  mutable std::int64_t done_ = 0;
  mutable std::atomic<bool> stopped_ = false;
};

/// One scheme in training, and the contestants that are tests of it.
struct Trained {
  std::size_t task = 0;
  std::string positions;
  std::vector<std::size_t> entries;                  ///< places in the contest
  std::vector<double> validation;                    ///< by rate
  std::vector<std::vector<ContestOutcome>> by_rate;  ///< first seed: [rate][entry]
  double rate = 0;
  bool learned = false;  ///< a table with an end
};

std::vector<Trained> training_of(Contest& contest) {
  std::vector<Trained> all;
  std::vector<bool> shown(contest.tasks.size());
  for (std::size_t task = 0; task < contest.tasks.size(); ++task) {
    for (std::size_t i = 0; i < contest.contestants.size(); ++i) {
      const Contestant& contestant = contest.contestants[i];
      const auto same = std::find_if(all.begin(), all.end(), [&](const Trained& other) {
        return other.task == task && other.positions == contestant.trained;
      });
      Trained& trained = same != all.end() ? *same : all.emplace_back();
      trained.task = task;
      trained.positions = contestant.trained;
      // Of several tables the first shows what rare rows are.
      const bool table = contestant.facts.positions.has_value() && contestant.facts.parameters > 0;
      trained.learned = trained.learned || (table && !shown[task]);
      shown[task] = shown[task] || table;
      trained.entries.push_back(contest.entries.size());
      contest.entries.push_back({.task = task, .contestant = i, .outcomes = {}});
    }
  }
  return all;
}

std::string named(const Contest& contest, const Trained& trained) {
  const std::string task =
      contest.tasks.size() > 1 ? contest.tasks[trained.task]->name() + ", " : "";
  return task + contest.contestants[contest.entries[trained.entries.front()].contestant].name;
}

RowsOutcome rows_outcome(const ExtrapolationOptions& options, const ExtrapolationTask& task,
                         const TrainedRun& trained, std::uint64_t seed) {
  const std::int64_t last = options.train - options.train / 4;
  const std::vector<BandFigures> bands =
      measure_bands(*trained.model, task, {.seed = seed, .first = 0, .rows = options.test_rows},
                    options.train, {{0, last}, {last, options.train}});
  RowsOutcome outcome{.finished = true, .often = bands[0], .last_quarter = bands[1]};
  const auto mean_square = [&](std::int64_t from, std::int64_t to) {
    double sum = 0;
    for (std::int64_t row = from; row < to; ++row) {
      const double change = trained.row_changes.at(static_cast<std::size_t>(row));
      sum += change * change;
    }
    return std::sqrt(sum / static_cast<double>(to - from));
  };
  outcome.often_change = mean_square(0, last);
  outcome.last_change = mean_square(last, options.train);
  return outcome;
}

/// Trains, then tests as every contestant that shares the weights.
std::vector<ContestOutcome> train_and_test(const ExtrapolationOptions& options, Contest& contest,
                                           const Trained& trained, const TrainedRun& run,
                                           std::uint64_t seed) {
  std::vector<ContestOutcome> outcomes;
  for (const std::size_t entry : trained.entries) {
    if (!run.finished) {
      outcomes.emplace_back();
      continue;
    }
    const Contestant& contestant = contest.contestants[contest.entries[entry].contestant];
    outcomes.push_back(
        test_run(options, *contest.tasks[trained.task], contestant, *run.model, seed));
  }
  return outcomes;
}

/// The place of the least loss; what is no number is larger than any.
std::size_t best_of(const std::vector<double>& losses) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < losses.size(); ++i) {
    if (losses[i] < losses[best] || (std::isnan(losses[best]) && !std::isnan(losses[i]))) best = i;
  }
  return best;
}

bool all_finished(const std::vector<ContestOutcome>& outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(),
                     [](const ContestOutcome& outcome) { return outcome.finished; });
}

}  // namespace

Contest hold_contest(const ExtrapolationOptions& options, const StudyRun& run) {
  Contest contest;
  contest.tasks = extrapolation_tasks(options);
  contest.contestants = contestants(options);
  std::vector<Trained> training = training_of(contest);
  const auto rates = options.rates.size();
  const auto seeds = static_cast<std::size_t>(options.seeds);
  for (ContestEntry& entry : contest.entries) entry.outcomes.resize(seeds);
  for (std::size_t task = 0; task < contest.tasks.size(); ++task) {
    const bool learned = std::any_of(training.begin(), training.end(),
                                     [](const Trained& trained) { return trained.learned; });
    for (const std::int64_t every : {std::int64_t{1}, kRareEvery}) {
      if (learned && options.train >= 4) contest.rows.push_back({task, every, {}});
    }
  }
  for (RowsEntry& entry : contest.rows) entry.outcomes.resize(seeds);
  for (const bool causal : {false, true}) {
    contest.order.push_back({{.causal = causal, .seed = options.seed}, {}});
  }
  contest.order.push_back({{.positions = "sinusoidal", .seed = options.seed}, {}});
  for (OrderEntry& entry : contest.order) entry.outcomes.resize(seeds);

  const std::int64_t rare = static_cast<std::int64_t>(contest.rows.size() / 2);
  const std::int64_t order_work = order_steps(options) / 3;
  Jobs jobs(run, options.steps * (static_cast<std::int64_t>(training.size() * (rates + seeds - 1)) +
                                  rare * options.seeds) +
                     order_work * 3 * options.seeds);
  const auto keep_rows = [&](const Trained& trained, const TrainedRun& done, std::size_t seed,
                             std::int64_t every) {
    for (RowsEntry& entry : contest.rows) {
      if (entry.task != trained.task || entry.full_every != every || !trained.learned) continue;
      entry.outcomes[seed] = rows_outcome(options, *contest.tasks[trained.task], done,
                                          options.seed + static_cast<std::uint64_t>(seed));
    }
  };

  std::atomic<std::int64_t> runs = 0;
  // The first seed tries the rates.
  std::vector<std::vector<RowsOutcome>> first_rows(training.size(),
                                                   std::vector<RowsOutcome>(rates));
  for (std::size_t place = 0; place < training.size(); ++place) {
    Trained& trained = training[place];
    trained.validation.resize(rates, std::nan(""));
    trained.by_rate.resize(rates);
    for (std::size_t rate = 0; rate < rates; ++rate) {
      jobs.add(named(contest, trained), [&, place, rate](const Jobs& watcher) {
        Trained& mine = training[place];
        const TrainedRun done = train_run(
            options, *contest.tasks[mine.task],
            {.positions = mine.positions, .rate = options.rates[rate], .seed = options.seed},
            watcher.watch(named(contest, mine), 1));
        mine.by_rate[rate] = train_and_test(options, contest, mine, done, options.seed);
        if (!done.finished) return;
        ++runs;
        mine.validation[rate] = done.validation;
        if (mine.learned && !contest.rows.empty()) {
          first_rows[place][rate] =
              rows_outcome(options, *contest.tasks[mine.task], done, options.seed);
        }
        for (const std::size_t entry : mine.entries) {
          if (rate == 0) contest.entries[entry].parameters = done.parameters;
        }
      });
    }
  }
  jobs.finish();
  for (std::size_t place = 0; place < training.size(); ++place) {
    Trained& trained = training[place];
    const bool tried = std::all_of(trained.by_rate.begin(), trained.by_rate.end(), all_finished) &&
                       !jobs.stopped();
    // A choice among half of the rates would be another one.
    if (!tried) {
      contest.complete = false;
      continue;
    }
    const std::size_t best = best_of(trained.validation);
    trained.rate = options.rates[best];
    for (std::size_t i = 0; i < trained.entries.size(); ++i) {
      ContestEntry& entry = contest.entries[trained.entries[i]];
      entry.rate = trained.rate;
      entry.outcomes[0] = std::move(trained.by_rate[best][i]);
    }
    for (RowsEntry& entry : contest.rows) {
      if (trained.learned && entry.task == trained.task && entry.full_every == 1) {
        entry.outcomes[0] = first_rows[place][best];
      }
    }
  }

  // Seed by seed, so that whoever stops early has whole seeds.
  for (std::size_t seed = 0; seed < seeds && !jobs.stopped(); ++seed) {
    for (Trained& trained : training) {
      for (const std::int64_t every : {std::int64_t{1}, kRareEvery}) {
        if (every == 1 && seed == 0) continue;
        if (every > 1 && (!trained.learned || contest.rows.empty())) continue;
        jobs.add(named(contest, trained), [&, seed, every](const Jobs& watcher) {
          const std::uint64_t number = options.seed + static_cast<std::uint64_t>(seed);
          const TrainedRun done = train_run(options, *contest.tasks[trained.task],
                                            {.positions = trained.positions,
                                             .rate = trained.rate,
                                             .seed = number,
                                             .full_every = every},
                                            watcher.watch(named(contest, trained), 1));
          if (!done.finished) return;
          ++runs;
          keep_rows(trained, done, seed, every);
          if (every > 1) return;
          std::vector<ContestOutcome> outcomes =
              train_and_test(options, contest, trained, done, number);
          for (std::size_t i = 0; i < outcomes.size(); ++i) {
            contest.entries[trained.entries[i]].outcomes[seed] = std::move(outcomes[i]);
          }
        });
      }
    }
    for (OrderEntry& entry : contest.order) {
      jobs.add("order", [&, seed](const Jobs& watcher) {
        OrderRun one = entry.run;
        one.seed += static_cast<std::uint64_t>(seed);
        std::int64_t steps = 0;
        const auto watch = watcher.watch("order", 1);
        const auto pass = watcher.watch("order", 0);
        // A step of it is a third of the work of one of the contest.
        entry.outcomes[seed] = run_order(options, one, [&](std::int64_t step) {
          return ++steps % 3 == 0 ? watch(step) : pass(step);
        });
      });
    }
  }
  jobs.finish();
  for (const ContestEntry& entry : contest.entries) {
    if (!all_finished(entry.outcomes)) contest.complete = false;
  }
  for (const OrderEntry& entry : contest.order) {
    for (const OrderOutcome& outcome : entry.outcomes) {
      if (!outcome.finished) contest.complete = false;
    }
  }
  for (const RowsEntry& entry : contest.rows) {
    for (const RowsOutcome& outcome : entry.outcomes) {
      if (!outcome.finished) contest.complete = false;
    }
  }
  contest.runs = runs;
  return contest;
}

}  // namespace volvelle
