#include "volvelle/studies/saturation.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/thread_pool.h"
#include "studies/saturation_draws.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::size_t kMostWidths = 32;
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 24;
constexpr std::int64_t kMostDraws = 1'000'000;
constexpr double kSaturated = 0.5;            // one key takes more than half
constexpr std::uint64_t kControl = 1u << 31;  // streams of its own, within those of a width

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[saturation] " + text); }

void check(const SaturationOptions& options) {
  if (options.head_widths.empty() || options.head_widths.size() > kMostWidths) {
    refuse("1 to 32 head widths are measured, not " + std::to_string(options.head_widths.size()));
  }
  if (options.tokens < 2) {
    refuse("tokens must be at least 2, not " + std::to_string(options.tokens) +
           ": over one key every weight is 1");
  }
  if (options.draws < 1 || options.draws > kMostDraws) {
    refuse("draws must be 1 to " + grouped(kMostDraws) + ", not " + std::to_string(options.draws));
  }
  for (const std::int64_t width : options.head_widths) {
    if (width < 1) refuse("a head width must be at least 1, not " + std::to_string(width));
    if (std::count(options.head_widths.begin(), options.head_widths.end(), width) > 1) {
      refuse("head width " + std::to_string(width) + " is given twice");
    }
    const std::int64_t longest = std::max(width, options.tokens);
    if (longest > kMostNumbers / options.tokens) {
      refuse("tokens=" + std::to_string(options.tokens) + " with head width " +
             std::to_string(width) + " make matrices above " + grouped(kMostNumbers) +
             " numbers; take fewer tokens");
    }
  }
}

// Streams of a width, 2^32 of them, whatever other widths are asked for.
std::uint64_t stream_of(std::int64_t width) { return static_cast<std::uint64_t>(width) << 32; }

StudyTable table_of(const std::vector<WidthFigures>& measured, std::int64_t tokens) {
  StudyTable table{
      .key = "rows",
      .title = "Softmax over " + std::to_string(tokens) + " keys: means over the draws",
      .columns = {{"head_width", "width", 0},
                  {"divisor", ""},
                  {"divided_by", "divided by"},
                  {"scale", "", 6},
                  {"score_spread", "spread", 2},
                  {"entropy", "", 4},
                  {"entropy_share", "entropy", 0, StudyForm::percent},
                  {"entropy_low", ""},
                  {"entropy_high", ""},
                  {"largest_weight", "largest", 3},
                  {"largest_weight_low", ""},
                  {"largest_weight_high", ""},
                  {"gradient", "gradient", 4},
                  {"gradient_low", ""},
                  {"gradient_high", ""},
                  {"query_gradient", "to queries", 4},
                  {"draws", ""}},
      .rows = {}};
  for (const WidthFigures& width : measured) {
    for (std::size_t i = 0; i < kDivisors; ++i) {
      const ScoreDivisor& divisor = score_divisors()[i];
      const DrawnFigures& by = width.by[i];
      table.rows.push_back({width.width, std::string(divisor.key), std::string(divisor.name),
                            divisor.scale(width.width, tokens), by.spread.mean, by.entropy.mean,
                            by.entropy.mean / std::log(static_cast<double>(tokens)), by.entropy.low,
                            by.entropy.high, by.largest.mean, by.largest.low, by.largest.high,
                            by.gradient.mean, by.gradient.low, by.gradient.high,
                            by.query_gradient.mean, width.draws});
    }
  }
  return table;
}

StudyChart chart_of(const std::vector<WidthFigures>& measured, DrawnFigure DrawnFigures::* figure) {
  StudyChart chart;
  chart.x_label = "head width";
  chart.log_x = true;
  for (std::size_t i = 0; i < kDivisors; ++i) {
    StudySeries series;
    series.label = std::string("divided by ") + score_divisors()[i].name;
    for (const WidthFigures& width : measured) {
      const DrawnFigure& drawn = width.by[i].*figure;
      series.x.push_back(static_cast<double>(width.width));
      series.y.push_back(drawn.mean);
      series.low.push_back(drawn.low);
      series.high.push_back(drawn.high);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

std::vector<StudyChart> charts_of(const std::vector<WidthFigures>& measured) {
  StudyChart largest = chart_of(measured, &DrawnFigures::largest);
  largest.key = "largest_weight";
  largest.title = "Largest weight of a row (1: one key takes all)";
  largest.y_label = "largest weight";
  StudyChart gradient = chart_of(measured, &DrawnFigures::gradient);
  gradient.key = "gradient";
  gradient.title = "What the softmax lets through of a gradient, the median query";
  gradient.y_label = "norm of its Jacobian";
  gradient.in_text = false;
  gradient.log_y = true;
  StudyChart entropy = chart_of(measured, &DrawnFigures::entropy);
  entropy.key = "entropy";
  entropy.title = "Entropy of a row's weights";
  entropy.y_label = "nats";
  entropy.in_text = false;
  return {largest, entropy, gradient};
}

StudyControl control_of(const WidthFigures& control, std::int64_t filled) {
  const double largest = control.by[kUnscaled].largest.mean;
  StudyControl result;
  result.what = "Width " + std::to_string(control.width) +
                " again, not scaled, but with only the "
                "first " +
                std::to_string(filled) +
                " entries of queries and keys not 0: wide, and "
                "yet scores that do not spread.";
  result.check = "scores that are not scaled saturate: the largest weight is above " +
                 rounded(kSaturated, 2) + " on average.";
  result.failed = !(largest > kSaturated);
  result.figures = "the largest weight is " + fixed(largest, 3) + " on average.";
  return result;
}

std::string percent(double share) { return fixed(share * 100, 0) + '%'; }

std::string at_widths(const WidthFigures& narrow, const WidthFigures& wide) {
  return "from width " + std::to_string(narrow.width) + " to " + std::to_string(wide.width);
}

// The narrowest width from which on scores that are not scaled saturate, or nullptr.
const WidthFigures* first_saturated(const std::vector<WidthFigures>& by_width) {
  const WidthFigures* first = nullptr;
  for (auto it = by_width.rbegin(); it != by_width.rend(); ++it) {
    if (it->by[kUnscaled].largest.mean <= kSaturated) break;
    first = &*it;
  }
  return first;
}

std::vector<std::string> reading_of(std::vector<WidthFigures> measured, std::int64_t tokens) {
  if (measured.empty()) return {};
  std::sort(measured.begin(), measured.end(),
            [](const auto& a, const auto& b) { return a.width < b.width; });
  const WidthFigures& narrow = measured.front();
  const WidthFigures& wide = measured.back();
  std::vector<std::string> reading;
  const WidthFigures* saturated = first_saturated(measured);
  if (saturated != nullptr) {
    reading.push_back("Not scaled, scores saturate the softmax from width " +
                      std::to_string(saturated->width) + " on: there one key takes " +
                      percent(saturated->by[kUnscaled].largest.mean) +
                      " of a row on average. At "
                      "width " +
                      std::to_string(wide.width) + " the median query's softmax passes " +
                      fixed(wide.by[kUnscaled].gradient.mean, 4) + " of a gradient, and " +
                      fixed(wide.by[kByRoot].gradient.mean, 4) +
                      " with scores divided by the root of the width.");
  } else {
    reading.push_back("Not scaled, scores saturate the softmax at none of these widths: at width " +
                      std::to_string(wide.width) + " the largest weight is " +
                      fixed(wide.by[kUnscaled].largest.mean, 3) + " on average.");
  }
  reading.push_back("At width " + std::to_string(narrow.width) +
                    " scaling moves the largest weight "
                    "from " +
                    fixed(narrow.by[kUnscaled].largest.mean, 3) + " to " +
                    fixed(narrow.by[kByRoot].largest.mean, 3) + ".");
  if (measured.size() < 2) return reading;
  const double uniform = std::log(static_cast<double>(tokens));
  const auto share = [&](const WidthFigures& width, std::size_t by) {
    return percent(width.by[by].entropy.mean / uniform);
  };
  reading.push_back("Divided by the root of the width, scores keep their spread (" +
                    fixed(narrow.by[kByRoot].spread.mean, 2) + " and " +
                    fixed(wide.by[kByRoot].spread.mean, 2) + ") and the entropy goes from " +
                    share(narrow, kByRoot) + " to " + share(wide, kByRoot) +
                    " of the largest possible " + at_widths(narrow, wide) + ".");
  reading.push_back("Divided by the width itself it goes from " + share(narrow, kByWidth) + " to " +
                    share(wide, kByWidth) +
                    ": nearly a plain mean of the values where it is close "
                    "to 100%, and what reaches the queries goes from " +
                    fixed(narrow.by[kByWidth].query_gradient.mean, 4) + " to " +
                    fixed(wide.by[kByWidth].query_gradient.mean, 4) + ".");
  reading.push_back(
      "The root of the number of tokens knows nothing of the width: its entropy goes "
      "from " +
      share(narrow, kByTokens) + " to " + share(wide, kByTokens) +
      ". It only fits where the two numbers happen to be alike.");
  return reading;
}

}  // namespace

StudyResult study_saturation(const SaturationOptions& options, const StudyRun& run) {
  check(options);
  const int threads = resolve_threads(run.threads);
  StudyResult result;
  result.name = "saturation";
  result.question =
      "Why are scores divided by the root of the head width, and what happens to the "
      "softmax when they are divided by something else, or by nothing?";
  std::string widths;
  for (const std::int64_t width : options.head_widths) {
    widths += (widths.empty() ? "" : ", ") + std::to_string(width);
  }
  result.setup = {{"head widths", widths},
                  {"queries and keys", std::to_string(options.tokens) +
                                           " of each, independent standard normal entries"},
                  {"draws", grouped(options.draws) + " for each width (Philox, seed " +
                                std::to_string(options.seed) + ")"},
                  {"spread", "standard deviation of the scores after dividing"},
                  {"entropy", "as a share of that of equal weights"},
                  {"gradient",
                   "length of what the softmax passes on of a random gradient with "
                   "entries of variance 1; the median query. Equal weights pass " +
                       fixed(std::sqrt(static_cast<double>(options.tokens - 1)) /
                                 static_cast<double>(options.tokens),
                             4)},
                  {"to queries", "the same, further through scores and divisor to a query"}};
  result.facts = {{"tokens", options.tokens},
                  {"draws", options.draws},
                  {"seed", static_cast<std::int64_t>(options.seed)}};

  const double whole =
      static_cast<double>(options.draws) * static_cast<double>(options.head_widths.size() + 1);
  double before = 0;
  const auto measure = [&](const DrawPlan& plan, const std::string& what) {
    const WidthFigures figures = draw_width(plan, options, threads, [&](std::int64_t done) {
      if (run.stopped && run.stopped()) {
        result.complete = false;
        return false;
      }
      if (run.progress) run.progress((before + static_cast<double>(done)) / whole, what);
      return true;
    });
    before += static_cast<double>(options.draws);
    return figures;
  };
  std::vector<WidthFigures> measured;
  for (const std::int64_t width : options.head_widths) {
    const WidthFigures figures =
        measure({width, width, stream_of(width)}, "head width " + std::to_string(width));
    if (figures.draws > 0) measured.push_back(figures);
    if (!result.complete) break;
  }
  if (result.complete) {
    const std::int64_t widest =
        *std::max_element(options.head_widths.begin(), options.head_widths.end());
    const std::int64_t filled = std::min<std::int64_t>(2, widest);
    const WidthFigures control =
        measure({widest, filled, stream_of(widest) + kControl}, "the control");
    if (control.draws > 0) result.controls.push_back(control_of(control, filled));
  }
  result.tables.push_back(table_of(measured, options.tokens));
  if (!measured.empty()) result.charts = charts_of(measured);
  result.reading = reading_of(measured, options.tokens);
  result.limits = {
      "Independent normal entries stand for queries and keys at initialisation. Training moves "
      "both: a trained head may saturate on purpose, whatever the divisor.",
      "What a softmax passes on is one factor of a gradient; how well a model learns is not "
      "measured here."};
  return result;
}

}  // namespace volvelle
