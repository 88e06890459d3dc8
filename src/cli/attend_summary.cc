#include "cli/attend_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cli/attend_json.h"
#include "cli/seen_pairs.h"
#include "volvelle/measure/peak.h"
#include "volvelle/report/chart.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kBars = 32;       // heads in a chart
constexpr std::int64_t kRowsShown = 16;  // rows in a table before a chart takes over
constexpr std::int64_t kPlots = 4;       // charts of single heads

std::string line(const std::string& name, const std::string& text) {
  const std::string head =
      "  " + name + std::string(14 - std::min<std::size_t>(13, name.size()), ' ');
  return head + wrapped(text, {.indent = 16}).substr(16);
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double mean = 0;
  std::int64_t nonfinite = 0;
};

Range range_of(const Tensor& array) {
  Range range;
  double sum = 0;
  const View view = array.view();
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double value = element_as_double(view, i);
    if (!std::isfinite(value)) {
      ++range.nonfinite;
      continue;
    }
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
    sum += value;
  }
  range.mean = sum / static_cast<double>(std::max<std::int64_t>(array.size() - range.nonfinite, 1));
  return range;
}

std::string output_text(const AttendRun& run, int digits) {
  const Tensor& output = run.result.output;
  const Range range = range_of(output);
  std::string text = to_string(output.shape());
  if (range.low <= range.high) {
    text += ", from " + rounded(range.low, digits) + " to " + rounded(range.high, digits) +
            ", mean " + rounded(range.mean, digits);
  }
  if (range.nonfinite > 0) text += "; " + grouped(range.nonfinite) + " elements are not finite";
  std::int64_t empty = 0;
  for (std::int64_t i = 0; i < run.result.lse.size(); ++i) {
    empty += element_as_double(run.result.lse.view(), i) == -INFINITY ? 1 : 0;
  }
  if (empty > 0) text += "; " + grouped(empty) + " rows see no key and are 0";
  return text;
}

// Multiply-adds of everything in the tiles that are not skipped.
double walked_pairs(const AttentionPlan& plan) {
  const double area = static_cast<double>(plan.tiles.queries) * plan.tiles.keys;
  const double all = static_cast<double>(plan.batch) * static_cast<double>(plan.heads) *
                     static_cast<double>(plan.queries) * static_cast<double>(plan.keys);
  return std::min(static_cast<double>(plan.tiles.full + plan.tiles.partial) * area, all);
}

std::string time_text(const AttendInputs& inputs, const AttendRun& run) {
  const AttentionPlan& plan = run.plan;
  std::string text = duration(run.milliseconds * 1e-3);
  if (run.calls > 1) text += " (median of " + std::to_string(run.calls) + ")";
  if (run.milliseconds <= 0) return text;
  const std::optional<double> seen = seen_pairs(inputs.problem, plan);
  if (!seen && plan.path != AttentionPath::fused) return text;
  const double operations = 2 * seen.value_or(walked_pairs(plan)) *
                            static_cast<double>(plan.head_width + plan.value_width);
  const double gflops = operations / (run.milliseconds * 1e6);
  text += ", " + rounded(gflops, gflops < 10 ? 2 : 0) + " GFLOP/s";
  text += seen ? " on the pairs that are seen" : " on the tiles that are walked";
  if (plan.path != AttentionPath::fused) return text;
  const double peak = fma_peak_gflops(inputs.problem.q.dtype(), run.threads);
  return text + ", " + rounded(100 * gflops / peak, 0) + "% of this machine's peak (" +
         rounded(peak, 0) + ")";
}

// Mean over the queries that see a key, for each head.
std::vector<double> mean_entropy(const AttendRun& run) {
  const AttentionPlan& plan = run.plan;
  std::vector<double> sums(static_cast<std::size_t>(plan.heads), 0.0);
  std::vector<std::int64_t> counts(sums.size(), 0);
  for (std::int64_t b = 0; b < plan.batch; ++b) {
    for (std::int64_t h = 0; h < plan.heads; ++h) {
      for (std::int64_t i = 0; i < plan.queries; ++i) {
        const std::int64_t at = (b * plan.heads + h) * plan.queries + i;
        if (element_as_double(run.result.lse.view(), at) == -INFINITY) continue;
        sums[static_cast<std::size_t>(h)] += element_as_double(run.result.entropy.view(), at);
        ++counts[static_cast<std::size_t>(h)];
      }
    }
  }
  for (std::size_t h = 0; h < sums.size(); ++h) {
    sums[h] = counts[h] > 0 ? sums[h] / static_cast<double>(counts[h]) : 0;
  }
  return sums;
}

std::string entropy_chart(const AttendRun& run, int digits) {
  const std::vector<double> means = mean_entropy(run);
  const double full = std::log(static_cast<double>(std::max<std::int64_t>(run.plan.keys, 1)));
  BarChart chart{.bars = {}, .full = full, .digits = digits};
  for (std::size_t h = 0; h < means.size() && h < kBars; ++h) {
    chart.bars.emplace_back("head " + std::to_string(h), means[h]);
  }
  std::string text = wrapped("Entropy per head, mean over the queries, in nats. A whole bar, " +
                                 rounded(full, digits) + ", reads all " + grouped(run.plan.keys) +
                                 " keys alike; none reads a single key.",
                             {.indent = 0});
  text += render(chart);
  if (run.plan.heads > kBars) {
    const auto [low, high] = std::minmax_element(means.begin(), means.end());
    text += "  ... of " + grouped(run.plan.heads) + " heads; lowest " + rounded(*low, digits) +
            ", highest " + rounded(*high, digits) + '\n';
  }
  return text;
}

std::string head_name(const AttentionPlan& plan, std::int64_t part) {
  const std::string head = "head " + std::to_string(part % plan.heads);
  return plan.batch > 1 ? "row " + std::to_string(part / plan.heads) + ", " + head : head;
}

// (B,H,N) as a table of heads by places or, when there are many places, a chart for each head.
std::string along(const AttentionPlan& plan, const Tensor& array, std::int64_t places,
                  const char* place, int digits) {
  const std::int64_t parts = plan.batch * plan.heads;
  const View view = array.view();
  if (places <= kRowsShown) {
    return render(LabelledMatrix{
        .rows = places,
        .columns = parts,
        .row_label = [&](std::int64_t i) { return std::string(place) + ' ' + std::to_string(i); },
        .column_label = [&](std::int64_t part) { return head_name(plan, part); },
        .cell =
            [&](std::int64_t i, std::int64_t part) {
              return rounded(element_as_double(view, part * places + i), digits);
            },
    });
  }
  std::string text;
  for (std::int64_t part = 0; part < std::min(parts, kPlots); ++part) {
    LineChart chart{.values = {},
                    .left = std::string(place) + " 0",
                    .right = std::string(place) + ' ' + std::to_string(places - 1),
                    .height = 6,
                    .digits = digits};
    for (std::int64_t i = 0; i < places; ++i) {
      chart.values.push_back(element_as_double(view, part * places + i));
    }
    text += "  " + head_name(plan, part) + '\n' + render(chart);
  }
  if (parts > kPlots) {
    text += "  ... " + grouped(parts - kPlots) + " more heads; --json and --out have them all\n";
  }
  return text;
}

}  // namespace

std::string plan_text(const AttendInputs& inputs, const AttentionPlan& plan, int threads) {
  const AttentionProblem& problem = inputs.problem;
  const std::string dtype(name_of(problem.q.dtype()));
  std::string text = "Attention over " + inputs.source + "\n\n";
  text += line("q", to_string(problem.q.shape()) + ' ' + dtype);
  text += line("k", to_string(problem.k.shape()));
  text += line("v", to_string(problem.v.shape()));
  text += line("scale", shortest(plan.scale));
  if (!inputs.positions.empty()) text += line("positions", inputs.positions);
  text += line("path", std::string(name_of_path(plan.path)) + ": " + plan.reason);
  text += line("runs on", plan.simd + ", up to " + std::to_string(threads) +
                              (threads == 1 ? " thread" : " threads"));
  if (plan.path == AttentionPath::fused) {
    text += line("tiles", grouped(plan.tiles.skipped) + " skipped, " + grouped(plan.tiles.full) +
                              " full, " + grouped(plan.tiles.partial) + " partial, of " +
                              std::to_string(plan.tiles.queries) + " queries x " +
                              std::to_string(plan.tiles.keys) + " keys");
  }
  return text;
}

std::string backward_plan_text(const AttentionBackwardPlan& plan) {
  return line("backward",
              std::string(name_of_path(plan.path)) + " on " + plan.simd + ": " + plan.reason);
}

std::string summary_text(const AttendInputs& inputs, const AttendRun& run, int digits) {
  std::string text = plan_text(inputs, run.plan, run.threads);
  text += line("output", output_text(run, digits));
  text += line("time", time_text(inputs, run));
  return text + '\n' + entropy_chart(run, digits);
}

std::string entropy_text(const AttendRun& run, int digits) {
  return "Entropy of each query's weights (nats)\n" +
         along(run.plan, run.result.entropy, run.plan.queries, "query", digits);
}

std::string column_sums_text(const AttendRun& run, int digits) {
  return "How much each key is read (its weights summed over the queries)\n" +
         along(run.plan, run.result.column_sums, run.plan.keys, "key", digits);
}

}  // namespace volvelle::cli
