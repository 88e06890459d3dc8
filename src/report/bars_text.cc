#include "report/bars_text.h"

#include <algorithm>
#include <cmath>

#include "report/chart_data.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::size_t kLongest = 44;

struct Bar {
  std::string label, number;
  double value = 0;
  double low = std::nan(""), high = std::nan("");
};

std::vector<Bar> bars_of(const StudyChart& chart) {
  std::vector<Bar> bars;
  const std::size_t groups = chart.series.empty() ? 0 : chart.series.front().y.size();
  std::size_t names = 0;
  for (std::size_t g = 0; g < groups; ++g) names = std::max(names, bar_label(chart, g).size());
  for (std::size_t g = 0; g < groups; ++g) {
    for (const StudySeries& series : chart.series) {
      if (g >= series.y.size()) continue;
      const std::string name = bar_label(chart, g);
      Bar bar{.label = chart.series.size() == 1
                           ? name
                           : name + std::string(names - name.size() + 2, ' ') + series.label,
              .number = rounded(series.y[g], 4),
              .value = series.y[g]};
      if (!series.low.empty()) {
        bar.low = series.low[g];
        bar.high = series.high[g];
        bar.number += " (" + rounded(bar.low, 4) + " to " + rounded(bar.high, 4) + ')';
      }
      bars.push_back(std::move(bar));
    }
  }
  return bars;
}

std::string drawn(const Bar& bar, const Axis& axis, std::size_t length) {
  const auto place = [&](double value) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(axis.share(value), 0.0, 1.0) * static_cast<double>(length)));
  };
  std::string text(length + 1, ' ');
  if (std::isfinite(bar.value)) {
    const std::size_t zero = place(0);
    const std::size_t end = place(bar.value);
    for (std::size_t i = std::min(zero, end); i < std::max(zero, end); ++i) text[i] = '#';
  }
  if (std::isfinite(bar.low)) text[place(bar.low)] = '[';
  if (std::isfinite(bar.high)) text[place(bar.high)] = ']';
  return text;
}

}  // namespace

std::string bars_text(const StudyChart& chart, const TextLayout& layout) {
  const std::vector<Bar> bars = bars_of(chart);
  const Axis axis = axis_over(bar_values(chart), {.from_zero = true});
  std::size_t labels = 0;
  std::size_t numbers = 0;
  for (const Bar& bar : bars) {
    labels = std::max(labels, bar.label.size());
    numbers = std::max(numbers, bar.number.size());
  }
  const std::size_t page = static_cast<std::size_t>(layout.width);
  const std::size_t used = static_cast<std::size_t>(layout.indent) + labels + numbers + 6;
  const std::size_t length = page > used + 8 ? std::min(page - used, kLongest) : 8;
  const std::string indent(static_cast<std::size_t>(layout.indent), ' ');
  std::string text;
  for (const Bar& bar : bars) {
    text += indent + bar.label + std::string(labels - bar.label.size() + 2, ' ') + '|' +
            drawn(bar, axis, length) + "| " + bar.number + '\n';
  }
  return text + (chart.y_label.empty() ? "" : wrapped(chart.y_label, layout));
}

}  // namespace volvelle
