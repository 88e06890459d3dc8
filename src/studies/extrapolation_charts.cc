#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "studies/extrapolation_findings.h"
#include "studies/extrapolation_tables.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

/// A title, of a task where there are several.
std::string title_in(const Contest& contest, std::size_t task, std::string text) {
  if (contest.tasks.size() > 1) return contest.tasks[task]->name() + ": " + text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string chart_key(const Contest& contest, std::size_t task, const std::string& key) {
  return contest.tasks.size() > 1 ? key + "_" + contest.tasks[task]->name() : key;
}

double end_of(const ExtrapolationOptions& options, std::size_t band) {
  return static_cast<double>(band == 0 ? options.train : longer_bands(options)[band - 1].to);
}

using Figure = std::function<double(const BandFigures&)>;

/// Medians of a scheme over the bands, with their range.
StudySeries series_of(const ExtrapolationOptions& options, const Contest& contest,
                      const ContestEntry& entry, const Figure& figure) {
  StudySeries series;
  series.label = contest.contestants[entry.contestant].name;
  for (std::size_t band = 0; band < band_count(options); ++band) {
    const std::vector<double> values = values_in(contest, entry, band, false, figure);
    if (values.empty()) continue;
    const SeedSpread spread = spread_of(values);
    series.x.push_back(end_of(options, band));
    series.y.push_back(spread.median);
    series.low.push_back(spread.minimum);
    series.high.push_back(spread.maximum);
  }
  return series;
}

/// What all of them do when they see the window only.
StudySeries window_series(const ExtrapolationOptions& options, const Contest& contest,
                          std::size_t task, const Figure& figure) {
  StudySeries series;
  series.label = "window of " + std::to_string(options.train);
  for (std::size_t band = 1; band < band_count(options); ++band) {
    std::vector<double> values;
    for (const ContestEntry& entry : contest.entries) {
      if (entry.task != task) continue;
      const std::vector<double> own = values_in(contest, entry, band, true, figure);
      values.insert(values.end(), own.begin(), own.end());
    }
    if (values.empty()) continue;
    series.x.push_back(end_of(options, band));
    series.y.push_back(lower_median(values));
  }
  return series;
}

StudyChart lines_of(const ExtrapolationOptions& options, const Contest& contest, std::size_t task,
                    const Figure& figure) {
  StudyChart chart;
  chart.kind = StudyChart::Kind::lines;
  chart.x_label = "positions up to";
  chart.log_x = true;
  chart.in_text = false;
  for (const ContestEntry& entry : contest.entries) {
    if (entry.task != task) continue;
    StudySeries series = series_of(options, contest, entry, figure);
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  StudySeries window = window_series(options, contest, task, figure);
  if (!window.x.empty()) chart.series.push_back(std::move(window));
  return chart;
}

StudyChart loss_chart(const ExtrapolationOptions& options, const Contest& contest,
                      std::size_t task) {
  StudyChart chart = lines_of(options, contest, task, shown_loss);
  const bool known = contest.tasks[task]->knows_best();
  chart.key = chart_key(contest, task, "loss");
  chart.title = title_in(
      contest, task,
      std::string("loss ") + (known ? "above the best possible " : "") +
          "by band of positions, median and range of the seeds; the line of the window is the "
          "median of all schemes");
  chart.y_label = known ? "loss above the best" : "loss";
  chart.log_y = std::all_of(chart.series.begin(), chart.series.end(), [](const StudySeries& one) {
    return std::all_of(one.y.begin(), one.y.end(), [](double y) { return y > 0; });
  });
  return chart;
}

/// A heat map: every run, or the medians.
StudyChart heat_map(const ExtrapolationOptions& options, const Contest& contest, std::size_t task) {
  StudyChart chart;
  chart.kind = StudyChart::Kind::heat_map;
  chart.x_label = "band of positions, over the training length";
  for (std::size_t band = 0; band < band_count(options); ++band) {
    chart.columns.push_back(band_name(options, band));
  }
  chart.title = title_in(
      contest, task, contest.tasks[task]->knows_best() ? "loss above the best possible" : "loss");
  return chart;
}

void add_line(StudyChart& chart, std::string name, const std::vector<std::optional<double>>& values,
              bool counts) {
  chart.lines.push_back(std::move(name));
  auto& cells = chart.cells.emplace_back();
  auto& labels = chart.cell_labels.emplace_back();
  for (const std::optional<double>& value : values) {
    cells.push_back(value.value_or(std::nan("")));
    const std::string text = value ? fixed(*value, 3) : "";
    labels.push_back(counts || text.empty() ? text : "(" + text + ")");
  }
}

StudyChart median_map(const ExtrapolationOptions& options, const Contest& contest,
                      std::size_t task) {
  StudyChart chart = heat_map(options, contest, task);
  chart.key = chart_key(contest, task, "medians");
  chart.title += ": medians of the runs that count";
  chart.y_label = "scheme";
  for (const ContestEntry& entry : contest.entries) {
    if (entry.task != task) continue;
    std::vector<std::optional<double>> values;
    for (std::size_t band = 0; band < band_count(options); ++band) {
      values.push_back(median_of(values_in(contest, entry, band, false, shown_loss)));
    }
    add_line(chart, contest.contestants[entry.contestant].name, values, true);
  }
  return chart;
}

StudyChart run_map(const ExtrapolationOptions& options, const Contest& contest, std::size_t task) {
  StudyChart chart = heat_map(options, contest, task);
  chart.key = chart_key(contest, task, "runs");
  chart.title += ": every run (in brackets: does not count)";
  chart.y_label = "scheme, seed";
  chart.in_text = false;
  const std::vector<ContestPart> parts = contest.tasks[task]->parts();
  for (const ContestEntry& entry : contest.entries) {
    if (entry.task != task) continue;
    for (std::size_t seed = 0; seed < entry.outcomes.size(); ++seed) {
      const ContestOutcome& outcome = entry.outcomes[seed];
      if (!outcome.finished) continue;
      std::vector<std::optional<double>> values;
      for (std::size_t band = 0; band < band_count(options); ++band) {
        const BandFigures* figures = figures_in(outcome, band);
        values.push_back(figures == nullptr ? std::nullopt
                                            : std::optional<double>(shown_loss(*figures)));
      }
      add_line(
          chart,
          contest.contestants[entry.contestant].name + ", " + std::to_string(options.seed + seed),
          values, outcome.counts(parts));
    }
  }
  return chart;
}

/// Where a part of the task is told further back than the training length: who still knows it.
StudyChart far_chart(const ExtrapolationOptions& options, const Contest& contest, std::size_t task,
                     std::size_t part) {
  StudyChart chart = lines_of(options, contest, task, [part](const BandFigures& figures) {
    return figures.parts[part].far_accuracy();
  });
  const ContestPart named = contest.tasks[task]->parts()[part];
  chart.key = chart_key(contest, task, named.key + "_far");
  chart.title = title_in(contest, task,
                         named.title + " that were told " + std::to_string(options.train) +
                             " tokens back or more: share that is right (a guess: " +
                             fixed(100 * named.guess, 0) + "%)");
  chart.y_label = "share right";
  return chart;
}

}  // namespace

std::vector<StudyChart> extrapolation_charts(const ExtrapolationOptions& options,
                                             const Contest& contest) {
  std::vector<StudyChart> charts;
  const auto add = [&](StudyChart chart) {
    if (!chart.series.empty() || !chart.lines.empty()) charts.push_back(std::move(chart));
  };
  for (std::size_t task = 0; task < contest.tasks.size(); ++task) {
    add(median_map(options, contest, task));
    add(loss_chart(options, contest, task));
    const std::vector<ContestPart> parts = contest.tasks[task]->parts();
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (parts[part].has_far) add(far_chart(options, contest, task, part));
    }
    add(run_map(options, contest, task));
  }
  return charts;
}

}  // namespace volvelle
