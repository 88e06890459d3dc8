#include "studies/warm_up_grid.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/thread_pool.h"

namespace volvelle {
namespace {

/// A run that is to be made, and where its outcome belongs.
struct Task {
  WarmUpRun run;
  WarmUpCell* cell;
};

/// Steps times layers: what a run costs.
std::int64_t cost(const WarmUpRun& run, std::int64_t steps) { return steps * run.depth; }

/// Trains many networks at once, one on a thread, and tells of it.
class Trainers {
 public:
  Trainers(const WarmUpOptions& options, const StudyRun& run)
      : options_(options), run_(run), threads_(resolve_threads(run.threads)) {}

  bool stopped() const { return stopped_; }
  /// Work that is likely to come, so that the share that is done need not fall back.
  void foresee(std::int64_t work) {
    foreseen_ += work;
    expected_ += work;
  }
  /// Work that will come; a part of what was foreseen, as far as that goes.
  void expect(std::int64_t work) {
    const std::int64_t known = std::min(work, foreseen_);
    foreseen_ -= known;
    expected_ += work - known;
  }

  std::vector<WarmUpOutcome> train(const std::vector<Task>& tasks) {
    // The longest first, so that no thread is left alone with one at the end.
    std::vector<std::size_t> order(tasks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return tasks[a].run.depth > tasks[b].run.depth;
    });
    std::vector<WarmUpOutcome> outcomes(tasks.size());
    parallel_for(static_cast<std::int64_t>(tasks.size()), threads_, [&](std::int64_t task) {
      const std::size_t place = order[static_cast<std::size_t>(task)];
      if (!stopped_) outcomes[place] = train(tasks[place].run);
    });
    return outcomes;
  }

  WarmUpOutcome train(const WarmUpRun& run) {
    const WarmUpOutcome outcome = train_once(options_, run, [&](std::int64_t) {
      tell(run, cost(run, 1));
      return !stopped_;
    });
    // What a broken run leaves over is done too.
    tell(run, cost(run, options_.steps - outcome.steps));
    return outcome;
  }

 private:
  // The caller's functions are called by one thread at a time.
  void tell(const WarmUpRun& run, std::int64_t work) {
    const std::lock_guard lock(mutex_);
    done_ += work;
    if (run_.stopped && run_.stopped()) stopped_ = true;
    if (!run_.progress) return;
    shown_ = std::max(shown_, static_cast<double>(done_) / static_cast<double>(expected_));
    run_.progress(std::min(1.0, shown_),
                  run.placement + ", " + std::to_string(run.depth) + " layers");
  }

  const WarmUpOptions& options_;
  const StudyRun& run_;
  const int threads_;
  std::mutex mutex_;
  std::int64_t done_ = 0, expected_ = 0, foreseen_ = 0;
  double shown_ = 0;
  std::atomic<bool> stopped_ = false;
};

WarmUpGrid empty_grid(const WarmUpOptions& options) {
  WarmUpGrid grid;
  for (const std::int64_t depth : options.depths) {
    for (const std::string& placement : options.placements) {
      for (const WarmUpArm& arm : warm_up_arms(options.warm_up)) {
        WarmUpRow& row = grid.rows.emplace_back();
        for (const double rate : options.rates) row.cells.push_back({placement, depth, rate, arm});
      }
    }
  }
  return grid;
}

Task next_task(const WarmUpOptions& options, WarmUpCell& cell, std::int64_t seed) {
  return {{.placement = cell.placement,
           .depth = cell.depth,
           .rate = cell.rate,
           .arm = cell.arm,
           .seed = options.seed + static_cast<std::uint64_t>(seed),
           .measure_layers = seed == 0},
          &cell};
}

/// Trains a round and returns what its broken runs have left over.
std::int64_t train_round(const WarmUpOptions& options, Trainers& trainers, WarmUpGrid& grid,
                         const std::vector<Task>& tasks) {
  const std::vector<WarmUpOutcome> outcomes = trainers.train(tasks);
  std::int64_t saved = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!outcomes[i].finished) {
      grid.complete = false;
      continue;
    }
    saved += cost(tasks[i].run, options.steps - outcomes[i].steps);
    tasks[i].cell->outcomes.push_back(outcomes[i]);
    ++grid.runs;
  }
  return saved;
}

/// One more seed for each cell that wants it and has fewer than `most`, as far as `paid` reaches
/// where that is given.
std::vector<Task> edge_tasks(const WarmUpOptions& options, WarmUpGrid& grid, std::int64_t most,
                             const std::int64_t* paid) {
  std::vector<Task> tasks;
  std::int64_t spent = 0;
  for (WarmUpRow& row : grid.rows) {
    for (std::size_t rate = 0; rate < row.cells.size(); ++rate) {
      WarmUpCell& cell = row.cells[rate];
      if (cell.runs() >= most || !wants_seeds(grid, row, rate)) continue;
      Task task = next_task(options, cell, cell.runs());
      spent += cost(task.run, options.steps);
      if (paid != nullptr && spent > *paid) return tasks;
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

/// What learned, with the smallest depth, in the order of the table; else the first cell.
WarmUpRun control_run(const WarmUpOptions& options, WarmUpGrid& grid) {
  WarmUpCell* chosen = nullptr;
  for (WarmUpRow& row : grid.rows) {
    for (WarmUpCell& cell : row.cells) {
      if (!cell.mostly_learned() || (chosen != nullptr && cell.depth >= chosen->depth)) continue;
      chosen = &cell;
    }
  }
  if (chosen == nullptr) chosen = &grid.rows.front().cells.front();
  WarmUpRun run = next_task(options, *chosen, 0).run;
  run.shuffled = true;
  run.measure_layers = false;
  return run;
}

}  // namespace

std::int64_t WarmUpCell::count(RunVerdict verdict) const {
  return std::count_if(outcomes.begin(), outcomes.end(),
                       [&](const WarmUpOutcome& outcome) { return outcome.verdict == verdict; });
}

const WarmUpRow* WarmUpGrid::row(const std::string& placement, std::int64_t depth,
                                 const WarmUpArm& arm) const {
  for (const WarmUpRow& row : rows) {
    const WarmUpCell& cell = row.front();
    if (cell.placement == placement && cell.depth == depth && cell.arm.kind == arm.kind &&
        cell.arm.warm_up == arm.warm_up) {
      return &row;
    }
  }
  return nullptr;
}

bool is_at_edge(const WarmUpRow& row, std::size_t rate) {
  const WarmUpCell& cell = row.cells[rate];
  if (cell.runs() == 0) return false;
  if (!cell.all_learned() && !cell.none_learned()) return true;
  const auto differs = [&](const WarmUpCell& other) {
    return other.runs() > 0 && other.mostly_learned() != cell.mostly_learned();
  };
  return (rate > 0 && differs(row.cells[rate - 1])) ||
         (rate + 1 < row.cells.size() && differs(row.cells[rate + 1]));
}

bool wants_seeds(const WarmUpGrid& grid, const WarmUpRow& row, std::size_t rate) {
  if (is_at_edge(row, rate)) return true;
  const WarmUpCell& cell = row.cells[rate];
  return std::any_of(grid.rows.begin(), grid.rows.end(), [&](const WarmUpRow& other) {
    const WarmUpCell& against = other.cells[rate];
    const bool same_arm =
        against.arm.kind == cell.arm.kind && against.arm.warm_up == cell.arm.warm_up;
    return against.depth == cell.depth && (against.placement == cell.placement || same_arm) &&
           against.mostly_learned() != cell.mostly_learned() && is_at_edge(other, rate);
  });
}

WarmUpGrid train_grid(const WarmUpOptions& options, const StudyRun& run) {
  WarmUpGrid grid = empty_grid(options);
  Trainers trainers(options, run);
  const auto train = [&](const std::vector<Task>& tasks) {
    for (const Task& task : tasks) trainers.expect(cost(task.run, options.steps));
    return train_round(options, trainers, grid, tasks);
  };
  std::vector<Task> tasks;
  for (std::int64_t seed = 0; seed < options.far_seeds; ++seed) {
    for (WarmUpRow& row : grid.rows) {
      for (WarmUpCell& cell : row.cells) tasks.push_back(next_task(options, cell, seed));
    }
  }
  // Rows have one edge each, as a rule: two cells.
  for (const WarmUpRow& row : grid.rows) {
    trainers.foresee(2 * std::max<std::int64_t>(0, options.seeds - options.far_seeds) *
                     options.steps * row.front().depth);
  }
  std::int64_t saved = train(tasks);
  while (grid.complete) {
    tasks = edge_tasks(options, grid, options.seeds, nullptr);
    if (tasks.empty()) break;
    saved += train(tasks);
  }
  while (grid.complete) {
    tasks = edge_tasks(options, grid, 2 * options.seeds, &saved);
    if (tasks.empty()) break;
    for (const Task& task : tasks) saved -= cost(task.run, options.steps);
    saved += train(tasks);
    grid.bought_runs += static_cast<std::int64_t>(tasks.size());
  }
  grid.control = control_run(options, grid);
  if (grid.complete) {
    trainers.expect(cost(grid.control, options.steps));
    grid.control_outcome = trainers.train(grid.control);
  }
  grid.complete = grid.complete && grid.control_outcome.finished;
  return grid;
}

}  // namespace volvelle
