#include "volvelle/report/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "volvelle/report/number.h"

namespace volvelle {
namespace {

std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  return width;
}

// Means of `columns` equal stretches; the values themselves when there are no more than columns.
std::vector<double> condensed(const std::vector<double>& values, std::size_t columns) {
  if (values.size() <= columns) return values;
  std::vector<double> result;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t begin = c * values.size() / columns;
    const std::size_t end = (c + 1) * values.size() / columns;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    result.push_back(sum / static_cast<double>(end - begin));
  }
  return result;
}

}  // namespace

std::string render(const BarChart& chart, const TextLayout& layout) {
  std::vector<std::string> labels;
  std::vector<std::string> numbers;
  double largest = 0;
  for (const auto& [label, value] : chart.bars) {
    labels.push_back(label);
    numbers.push_back(rounded(value, chart.digits));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  const double full = chart.full > 0 ? chart.full : largest;
  const std::size_t label_width = widest(labels);
  const std::size_t used = static_cast<std::size_t>(layout.indent) + label_width + widest(numbers) +
                           5;  // two spaces, two edges, one space
  const std::size_t page = static_cast<std::size_t>(layout.width);
  const std::size_t length = page > used + 10 ? std::min<std::size_t>(page - used, 50) : 10;
  std::string text;
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const double value = chart.bars[i].second;
    const double share = std::isfinite(value) && full > 0 ? std::clamp(value / full, 0.0, 1.0) : 0;
    const auto filled = static_cast<std::size_t>(std::lround(share * static_cast<double>(length)));
    text.append(static_cast<std::size_t>(layout.indent), ' ');
    text += labels[i] + std::string(label_width - labels[i].size() + 2, ' ');
    text += '|' + std::string(filled, '#') + std::string(length - filled, ' ') + "| " + numbers[i];
    text += '\n';
  }
  return text;
}

std::string render(const LineChart& chart, const TextLayout& layout) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto page = static_cast<std::size_t>(std::max(layout.width - layout.indent - 14, 16));
  const std::vector<double> values = condensed(chart.values, page);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(low <= high))
    return std::string(static_cast<std::size_t>(layout.indent), ' ') + "no values\n";
  const int height = low == high ? 1 : std::max(chart.height, 2);
  std::vector<std::string> lines(static_cast<std::size_t>(height), std::string(values.size(), ' '));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const double share = low == high ? 0 : (high - values[i]) / (high - low);
    lines[static_cast<std::size_t>(std::lround(share * (height - 1)))][i] = '*';
  }
  const std::string top = rounded(high, chart.digits);
  const std::string bottom = rounded(low, chart.digits);
  const std::size_t labels = std::max(top.size(), bottom.size());
  const std::string indent(static_cast<std::size_t>(layout.indent), ' ');
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string label = i == 0 ? top : i + 1 == lines.size() ? bottom : "";
    std::string line = indent + std::string(labels - label.size(), ' ') + label + " |" + lines[i];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  text += indent + std::string(labels + 1, ' ') + '+' + std::string(values.size(), '-') + '\n';
  const std::size_t names = chart.left.size() + chart.right.size();
  const std::size_t between = values.size() > names ? values.size() - names : 1;
  return text + indent + std::string(labels + 2, ' ') + chart.left + std::string(between, ' ') +
         chart.right + '\n';
}

}  // namespace volvelle
