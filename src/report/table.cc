#include "volvelle/report/table.h"

#include <algorithm>

namespace volvelle {
namespace {

constexpr int kGap = 2;  // spaces between columns
const char kElided[] = "...";

bool is_number(const std::string& text) {
  const std::size_t digit = text.find_first_of("0123456789");
  return digit != std::string::npos && digit <= 1 && (digit == 0 || text[0] == '-') &&
         text.find_first_not_of("0123456789.e+-,%x") == std::string::npos;
}

// Where the point of a number stands, or where it would stand: behind its last digit.
std::size_t point_of(const std::string& text) {
  return std::min(text.find_first_of(".e"), text.size());
}

// One column of finished cells, all of the same width.
std::vector<std::string> aligned(const std::vector<std::string>& cells) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t plain = 0;
  bool numbers = false;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (!is_number(cells[i])) continue;
    numbers = true;
    before = std::max(before, point_of(cells[i]));
    after = std::max(after, cells[i].size() - point_of(cells[i]));
  }
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (!is_number(cells[i])) plain = std::max(plain, cells[i].size());
  }
  const std::size_t width = std::max({cells[0].size(), before + after, plain});
  std::vector<std::string> result;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string text = cells[i];
    if (i > 0 && is_number(text)) {
      text.insert(0, before - point_of(text), ' ');
    } else if (i > 0 && numbers && text.size() < before) {
      text.insert(0, before - text.size(), ' ');  // a mark stands where the digits end
    } else if (i == 0 && numbers && text.size() < before) {
      text.insert(0, before - text.size(), ' ');
    }
    text.append(width - std::min(width, text.size()), ' ');
    result.push_back(std::move(text));
  }
  return result;
}

// All rows; a head line with no title in it is left out.
std::string lines_of(const std::vector<std::vector<std::string>>& columns, int indent) {
  std::string text;
  for (std::size_t row = 0; !columns.empty() && row < columns[0].size(); ++row) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) line.append(kGap, ' ');
      line += columns[c][row];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (row == 0 && line.empty()) continue;
    text += line;
    text += '\n';
  }
  return text;
}

// `shown` of `count` places: all, or first and last ones with -1 for the gap between.
std::vector<std::int64_t> places(std::int64_t count, std::int64_t shown) {
  std::vector<std::int64_t> result;
  if (count <= shown) {
    for (std::int64_t i = 0; i < count; ++i) result.push_back(i);
    return result;
  }
  const std::int64_t head = (shown + 1) / 2;
  for (std::int64_t i = 0; i < head; ++i) result.push_back(i);
  result.push_back(-1);
  for (std::int64_t i = count - (shown - head); i < count; ++i) result.push_back(i);
  return result;
}

}  // namespace

std::string render(const Table& table, const TextLayout& layout) {
  std::vector<std::vector<std::string>> columns;
  for (std::size_t c = 0; c < table.titles.size(); ++c) {
    std::vector<std::string> cells{table.titles[c]};
    for (const auto& row : table.rows) cells.push_back(c < row.size() ? row[c] : "");
    columns.push_back(aligned(cells));
  }
  return lines_of(columns, layout.indent);
}

std::string render(const LabelledMatrix& matrix, const TextLayout& layout) {
  const std::vector<std::int64_t> rows = places(matrix.rows, layout.max_rows);
  std::vector<std::string> labels{""};
  for (const std::int64_t row : rows) labels.push_back(row < 0 ? kElided : matrix.row_label(row));
  const std::vector<std::string> label_column = aligned(labels);

  // A column is at least one character wide: no more of them than that need a look.
  std::int64_t fitting = std::min<std::int64_t>(matrix.columns, layout.width / (1 + kGap));
  while (true) {
    std::vector<std::vector<std::string>> columns{label_column};
    int width = layout.indent + static_cast<int>(label_column[0].size());
    for (const std::int64_t column : places(matrix.columns, fitting)) {
      // A gap among columns without labels has none either.
      const std::string label = matrix.column_label(std::max<std::int64_t>(column, 0));
      std::vector<std::string> cells{column < 0 && !label.empty() ? kElided : label};
      for (const std::int64_t row : rows) {
        cells.push_back(row < 0 || column < 0 ? kElided : matrix.cell(row, column));
      }
      columns.push_back(aligned(cells));
      width += kGap + static_cast<int>(columns.back()[0].size());
    }
    if (width <= layout.width || fitting <= 2) return lines_of(columns, layout.indent);
    --fitting;
  }
}

std::string beside(const std::vector<std::string>& blocks, const TextLayout& layout, int gap) {
  std::vector<std::string> lines;
  std::string stacked;
  std::size_t widest = 0;
  for (const std::string& block : blocks) {
    const std::size_t left = widest == 0 ? 0 : widest + static_cast<std::size_t>(gap);
    std::size_t row = 0;
    for (std::size_t begin = 0; begin < block.size(); ++row) {
      const std::size_t end = std::min(block.find('\n', begin), block.size());
      if (row == lines.size()) lines.emplace_back();
      if (end > begin) lines[row].append(left - std::min(left, lines[row].size()), ' ');
      lines[row].append(block, begin, end - begin);
      widest = std::max(widest, lines[row].size());
      begin = end + 1;
    }
    stacked += (stacked.empty() ? "" : "\n") + block;
  }
  if (widest > static_cast<std::size_t>(layout.width)) return stacked;
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::string wrapped(const std::string& text, const TextLayout& layout, int hang) {
  std::string result;
  std::string line(static_cast<std::size_t>(layout.indent), ' ');
  const std::string next(static_cast<std::size_t>(layout.indent + hang), ' ');
  bool empty = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!empty && line.size() + 1 + word.size() > static_cast<std::size_t>(layout.width)) {
      result += line + '\n';
      line = next;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return result + line + '\n';
}

}  // namespace volvelle
