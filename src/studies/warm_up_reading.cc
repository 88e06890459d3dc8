#include "studies/warm_up_reading.h"

#include <algorithm>

#include "studies/warm_up_findings.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

std::string at_depth(std::int64_t depth) {
  return "At " + std::to_string(depth) + (depth == 1 ? " layer" : " layers");
}

std::string count_text(const WarmUpCell& cell) {
  return std::to_string(cell.count(RunVerdict::learned)) + " of " + std::to_string(cell.runs());
}

std::string arm_text(const WarmUpArm& arm) {
  switch (arm.kind) {
    case WarmUpArm::Kind::warm_up:
      return "with a warm-up of " + std::to_string(arm.warm_up) + " steps";
    case WarmUpArm::Kind::mean:
      return "at the constant rate of that warm-up's mean";
    case WarmUpArm::Kind::constant:
      break;
  }
  return "without warm-up";
}

bool learned_somewhere(const WarmUpRow& row) {
  return std::any_of(row.cells.begin(), row.cells.end(),
                     [](const WarmUpCell& cell) { return cell.mostly_learned(); });
}

bool measured(const WarmUpRow& row) {
  return std::any_of(row.cells.begin(), row.cells.end(),
                     [](const WarmUpCell& cell) { return cell.runs() > 0; });
}

bool wholly_measured(const WarmUpGrid& grid) {
  for (const WarmUpRow& row : grid.rows) {
    for (const WarmUpCell& cell : row.cells) {
      if (cell.runs() == 0) return false;
    }
  }
  return true;
}

/// Where a row fails nowhere: at which of its rates it learns.
std::string unfailing_text(const WarmUpRow& row) {
  bool any_below = false;
  for (const WarmUpCell& cell : row.cells) {
    if (cell.runs() == 0) continue;
    if (!cell.mostly_learned()) {
      any_below = true;
      continue;
    }
    return any_below ? " learns from a rate of " + rate_text(cell.rate) + " on"
                     : " fails at none of the rates";
  }
  return any_below ? " learns at no rate" : " was not measured";
}

/// "pre fails from 0.01 on (all learned at 0.003, none at 0.01)".
std::string edge_text(const WarmUpGrid& grid, const WarmUpRow& row) {
  const std::string name = row.front().placement;
  const auto failing = failing_rate(grid, row);
  if (!failing) {
    return name + unfailing_text(row);
  }
  std::string inside;
  if (failing->low) inside = "all seeds learned at " + rate_text(*failing->low);
  if (failing->high) {
    inside += (inside.empty() ? "none at " : ", none at ") + rate_text(*failing->high);
  }
  return name + " fails from a rate of " + rate_text(failing->rate()) + " on" +
         (inside.empty() ? "" : " (" + inside + ")");
}

std::string edges_sentence(const WarmUpOptions& options, const WarmUpGrid& grid, std::int64_t depth,
                           const WarmUpArm& arm) {
  std::string text;
  for (const std::string& placement : options.placements) {
    const WarmUpRow* row = grid.row(placement, depth, arm);
    text += (text.empty() ? "" : "; ") + edge_text(grid, *row);
  }
  return at_depth(depth) + " " + arm_text(arm) + ": " + text + '.';
}

/// Where the constant rate failed and a warm-up to it learned, and what its mean alone did there.
std::string help_sentence(const WarmUpRow& constant, const WarmUpRow& climbing,
                          const WarmUpRow& mean) {
  std::string rates, whys;
  bool mean_helped = false, mean_failed = false;
  for (std::size_t rate = 0; rate < constant.cells.size(); ++rate) {
    const WarmUpCell& none = constant.cells[rate];
    const WarmUpCell& climbed = climbing.cells[rate];
    if (none.runs() == 0 || none.mostly_learned() || !climbed.mostly_learned()) continue;
    rates += (rates.empty() ? "" : ", ") + rate_text(none.rate) + " (" + count_text(climbed) +
             " against " + count_text(none) + "; at the mean rate " + count_text(mean.cells[rate]) +
             ")";
    (mean.cells[rate].mostly_learned() ? mean_helped : mean_failed) = true;
  }
  if (rates.empty()) return "";
  const WarmUpCell& front = climbing.front();
  std::string text = at_depth(front.depth) + " a warm-up of " + std::to_string(front.arm.warm_up) +
                     " steps lets " + front.placement +
                     " learn where the full rate from the start does not: at " + rates + ". ";
  if (mean_failed && !mean_helped) {
    text +=
        "The same mean rate held constant does not: what counts is the climb, not a smaller rate.";
  } else if (mean_helped && !mean_failed) {
    text += "The same mean rate held constant does as well: a smaller rate is enough.";
  } else {
    text += "The same mean rate held constant does at some of these rates only.";
  }
  return text;
}

/// Rates at which the one learned and the other did not, both without warm-up.
std::string placements_sentence(const WarmUpRow& reference, const WarmUpRow& other) {
  std::string rates;
  for (std::size_t rate = 0; rate < reference.cells.size(); ++rate) {
    const WarmUpCell& learned = reference.cells[rate];
    const WarmUpCell& failed = other.cells[rate];
    if (!learned.mostly_learned() || failed.runs() == 0 || failed.mostly_learned()) continue;
    rates += (rates.empty() ? "" : ", ") + rate_text(learned.rate) + " (" + count_text(learned) +
             " against " + count_text(failed) + ")";
  }
  if (rates.empty()) return "";
  return at_depth(reference.front().depth) + " " + arm_text(reference.front().arm) + " " +
         reference.front().placement + " learns and " + other.front().placement + " does not at " +
         rates + '.';
}

std::string failures_sentence(const WarmUpGrid& grid) {
  std::int64_t stuck = 0, broke = 0;
  for (const WarmUpRow& row : grid.rows) {
    for (const WarmUpCell& cell : row.cells) {
      stuck += cell.count(RunVerdict::stuck);
      broke += cell.count(RunVerdict::broke);
    }
  }
  if (stuck + broke == 0) return "Every run learned.";
  return "Of the " + std::to_string(stuck + broke) + " runs that did not learn, " +
         std::to_string(stuck) + " stuck and " + std::to_string(broke) + " broke.";
}

/// The failing rates of all depths in one line: how they move with the depth.
std::string trend_sentence(const WarmUpOptions& options, const WarmUpGrid& grid,
                           const WarmUpArm& arm) {
  if (options.depths.size() < 2) return "";
  std::string text, depths;
  for (const std::string& placement : options.placements) {
    std::string rates;
    for (const std::int64_t depth : options.depths) {
      const WarmUpRow& row = *grid.row(placement, depth, arm);
      const auto failing = failing_rate(grid, row);
      const std::string otherwise = !measured(row)           ? "not measured"
                                    : learned_somewhere(row) ? "none tried"
                                                             : "all tried";
      rates += (rates.empty() ? "" : ", ") + (failing ? rate_text(failing->rate()) : otherwise);
    }
    text += (text.empty() ? "" : "; ") + placement + ": " + rates;
  }
  for (const std::int64_t depth : options.depths) {
    depths += (depths.empty() ? "" : ", ") + std::to_string(depth);
  }
  return "Rates from which stacks of " + depths + " layers fail " + arm_text(arm) + ": " + text +
         '.';
}

/// What the first and the last layer saw in the first steps, without warm-up.
std::string first_steps_sentence(const WarmUpOptions& options, const WarmUpGrid& grid,
                                 std::int64_t depth) {
  std::string text;
  const std::size_t rate = telling_rate(grid, depth);
  for (const std::string& placement : options.placements) {
    const WarmUpRow* row = grid.row(placement, depth, {WarmUpArm::Kind::constant, 0});
    if (row == nullptr) return "";
    const auto layers = stack_figures(row->cells[rate]);
    if (layers.empty() || layers.front().gradient_norm == 0) return "";
    const double ratio = layers.back().gradient_norm / layers.front().gradient_norm;
    text += (text.empty() ? "" : "; ") + placement + " " + fixed(ratio, 2) + " (updates " +
            rounded(layers.back().update_ratio, 4) + " and " +
            rounded(layers.front().update_ratio, 4) + " of the weights)";
  }
  return at_depth(depth) + " in the first " + std::to_string(kFirstSteps) +
         " steps without warm-up at " + rate_text(grid.rows.front().cells[rate].rate) +
         " the gradient of the last layer over that of the first is: " + text + '.';
}

void add(std::vector<std::string>& to, std::string sentence) {
  if (!sentence.empty()) to.push_back(std::move(sentence));
}

}  // namespace

std::vector<std::string> warm_up_reading(const WarmUpOptions& options, const WarmUpGrid& grid) {
  const bool has_pre = std::count(options.placements.begin(), options.placements.end(), "pre") > 0;
  const std::string reference = has_pre ? "pre" : "";
  const auto learned = [&](std::int64_t depth) {
    return std::any_of(grid.rows.begin(), grid.rows.end(), [&](const WarmUpRow& row) {
      return row.front().depth == depth &&
             (reference.empty() || row.front().placement == reference) && learned_somewhere(row);
    });
  };
  const std::string who = has_pre ? "pre" : "no placement";
  std::vector<std::string> reading;
  bool seen = false, any = false;
  const auto arms = warm_up_arms(options.warm_up);
  const WarmUpArm none{WarmUpArm::Kind::constant, 0};
  const auto tried = [&](std::int64_t depth) {
    return std::any_of(grid.rows.begin(), grid.rows.end(), [&](const WarmUpRow& row) {
      return row.front().depth == depth &&
             (reference.empty() || row.front().placement == reference) && measured(row);
    });
  };
  for (const std::int64_t depth : options.depths) {
    if (!tried(depth)) {
      reading.push_back(at_depth(depth) + " too little was measured for a reading.");
      continue;
    }
    if (!learned(depth) && !wholly_measured(grid)) {
      reading.push_back(at_depth(depth) + " nothing had learned yet when the study was stopped.");
      continue;
    }
    if (!learned(depth)) {
      reading.push_back(at_depth(depth) + " " + who +
                        (has_pre ? " learned at no rate" : " learned") +
                        ": the task or the time is too hard for the network, and there is no "
                        "reading of this depth.");
      continue;
    }
    any = true;
    for (const WarmUpArm& arm : arms) {
      if (arm.kind != WarmUpArm::Kind::mean) {
        reading.push_back(edges_sentence(options, grid, depth, arm));
      }
    }
    if (has_pre && grid.row("pre", depth, none) != nullptr) {
      for (const std::string& placement : options.placements) {
        if (placement == "pre") continue;
        std::string sentence =
            placements_sentence(*grid.row("pre", depth, none), *grid.row(placement, depth, none));
        seen = seen || !sentence.empty();
        add(reading, std::move(sentence));
      }
    }
    add(reading, first_steps_sentence(options, grid, depth));
    for (const std::string& placement : options.placements) {
      const WarmUpRow* constant = grid.row(placement, depth, none);
      for (const WarmUpArm& arm : arms) {
        if (arm.kind != WarmUpArm::Kind::warm_up || constant == nullptr) continue;
        add(reading,
            help_sentence(*constant, *grid.row(placement, depth, arm),
                          *grid.row(placement, depth, {WarmUpArm::Kind::mean, arm.warm_up})));
      }
    }
  }
  if (!any && !wholly_measured(grid)) return reading;
  if (!any) {
    return {(has_pre ? "Pre-LN learned at no rate" : "No placement learned at any rate") +
            std::string(": there is no reading. More steps, a shorter sequence or lower rates may "
                        "make the task solvable.")};
  }
  if (!seen && has_pre && wholly_measured(grid) && options.placements.size() > 1 &&
      grid.row("pre", options.depths.front(), none) != nullptr) {
    reading.push_back(
        "It did not happen at these sizes: wherever pre learned without warm-up, the other "
        "placements did.");
  }
  for (const WarmUpArm& arm : arms) {
    if (arm.kind != WarmUpArm::Kind::mean) add(reading, trend_sentence(options, grid, arm));
  }
  add(reading, failures_sentence(grid));
  return reading;
}

}  // namespace volvelle
