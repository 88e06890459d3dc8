#include <algorithm>

#include "report/sentence.h"
#include "report/study_cells.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

std::string underlined(const std::string& title, char with) {
  return title + '\n' + std::string(title.size(), with) + '\n';
}

std::string heading(const std::string& title) { return '\n' + underlined(title, '-') + '\n'; }

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

// The rows that are shown, with a gap (-1) where some are left out; none for those asked for.
std::vector<std::ptrdiff_t> shown_rows(const StudyTable& table) {
  const std::size_t count = table.rows.size();
  const std::size_t most = static_cast<std::size_t>(table.text_rows);
  std::vector<std::ptrdiff_t> rows;
  for (const std::size_t row : table.shown) {
    if (row < count) rows.push_back(static_cast<std::ptrdiff_t>(row));
  }
  if (!table.shown.empty()) return rows;
  for (std::size_t i = 0; i < count; ++i) {
    const bool head = i < (most + 1) / 2;
    const bool tail = i + most / 2 >= count;
    if (count <= most || head || tail) {
      rows.push_back(static_cast<std::ptrdiff_t>(i));
    } else if (rows.back() >= 0) {
      rows.push_back(-1);
    }
  }
  return rows;
}

// Some columns of a table.
std::string part_text(const StudyTable& table, const std::vector<std::size_t>& columns,
                      const TextLayout& layout) {
  Table text;
  for (const std::size_t c : columns) text.titles.push_back(table.columns[c].title);
  for (const std::ptrdiff_t r : shown_rows(table)) {
    std::vector<std::string> cells;
    for (const std::size_t c : columns) {
      if (r < 0) {
        cells.push_back("...");
        continue;
      }
      const auto& row = table.rows[static_cast<std::size_t>(r)];
      cells.push_back(c < row.size() ? cell_text(row[c], table.columns[c]) : "");
    }
    text.rows.push_back(std::move(cells));
  }
  return render(text, layout);
}

// Those that identify a row, the first in any case and no more than half a page of them.
std::vector<std::size_t> identifying_columns(const StudyTable& table,
                                             const std::vector<std::size_t>& shown,
                                             const TextLayout& layout) {
  const auto wanted = static_cast<std::ptrdiff_t>(std::max(1, table.identifying));
  std::vector<std::size_t> columns(
      shown.begin(), shown.begin() + std::min(wanted, static_cast<std::ptrdiff_t>(shown.size())));
  const std::size_t most = static_cast<std::size_t>(layout.width) / 2;
  while (columns.size() > 1 && widest_line(part_text(table, columns, layout)) > most) {
    columns.pop_back();
  }
  return columns;
}

std::string table_text(const StudyTable& table, const TextLayout& layout) {
  if (table.text_rows <= 0) return "";
  std::vector<std::size_t> left;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].title.empty()) left.push_back(c);
  }
  if (left.empty()) return "";
  std::string text = table.title.empty() ? "" : wrapped(table.title, layout) + '\n';
  if (table.rows.empty()) return text + wrapped("nothing was measured", layout);
  const std::vector<std::size_t> identifying = identifying_columns(table, left, layout);
  for (bool begun = false; !left.empty(); begun = true) {
    // As many columns as fit, but one beside those that identify in any case.
    std::vector<std::size_t> columns;
    if (begun) columns = identifying;
    std::string part;
    const std::size_t least = columns.size() + 1;
    while (!left.empty()) {
      columns.push_back(left.front());
      std::string wider = part_text(table, columns, layout);
      const bool fits = widest_line(wider) <= static_cast<std::size_t>(layout.width);
      if (!fits && columns.size() > least) break;
      part = std::move(wider);
      left.erase(left.begin());
    }
    text += (begun ? "\n" : "") + part;
  }
  if (!table.shown.empty() && table.shown.size() < table.rows.size()) {
    text += '\n' + wrapped("(" + std::to_string(table.shown.size()) + " of " +
                               std::to_string(table.rows.size()) + " rows)",
                           layout);
  }
  return text;
}

// A name that is too long for a column of names stands on a line above what it is.
std::string setup_text(const StudyResult& result, const TextLayout& layout) {
  constexpr std::size_t kLongestName = 24;
  std::size_t width = 0;
  for (const auto& [name, value] : result.setup) {
    if (name.size() <= kLongestName) width = std::max(width, name.size());
  }
  std::string text;
  for (const auto& [name, value] : result.setup) {
    if (name.size() > kLongestName) {
      text += wrapped(name, layout, 2);
      if (value != name) {
        text += wrapped(
            value, {.width = layout.width, .indent = layout.indent + static_cast<int>(width) + 2});
      }
      continue;
    }
    const std::string line = name + std::string(width - name.size() + 2, ' ');
    std::string body = wrapped(
        value, {.width = layout.width, .indent = layout.indent + static_cast<int>(width) + 2});
    body.replace(static_cast<std::size_t>(layout.indent), line.size(), line);
    text += body;
  }
  return text;
}

std::string control_text(const StudyControl& control, const TextLayout& layout) {
  std::string text = wrapped(control.what, layout);
  text += wrapped("The check it must fail: " + control.check, layout, 2);
  text += wrapped(
      control.failed ? "It fails it: " + control.figures : "IT DID NOT FAIL IT: " + control.figures,
      layout, 2);
  for (const StudyTable& table : control.tables) {
    const std::string shown = table_text(table, layout);
    if (!shown.empty()) text += '\n' + shown;
  }
  return text;
}

std::string sentences(const std::vector<std::string>& texts, const TextLayout& layout) {
  std::string text;
  for (const std::string& one : texts) text += wrapped("- " + one, layout, 2);
  return text;
}

// What stands first and last when a control passed.
std::string alarm(const StudyResult& result, const TextLayout& layout) {
  for (const StudyControl& control : result.controls) {
    if (control.failed) continue;
    return '\n' +
           wrapped("!!! THE CONTROL DID NOT FAIL, so what is measured here proves nothing: " +
                       control.what + " !!!",
                   layout, 4);
  }
  return "";
}

}  // namespace

std::string study_text(const StudyResult& result, const TextLayout& layout) {
  TextLayout page = layout;
  page.indent = 0;
  std::string text = underlined("Study: " + result.name, '=') + '\n';
  text += wrapped(result.question, page);
  text += alarm(result, layout);
  if (!result.complete) {
    text += '\n' + wrapped("Stopped early: below is what was measured until then.", layout);
  }
  if (!result.setup.empty()) text += heading("Set-up") + setup_text(result, layout);
  bool begun = false;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    text += begun ? "\n" + part : heading("Measured") + part;
    begun = true;
  };
  for (const StudyTable& table : result.tables) add(table_text(table, layout));
  for (const StudyChart& chart : result.charts) {
    if (chart.in_text) add(study_chart_text(chart, layout));
  }
  for (const StudyControl& control : result.controls) {
    text += heading("Control") + control_text(control, layout);
  }
  if (!result.reading.empty()) text += heading("Reading") + sentences(result.reading, layout);
  if (!result.limits.empty()) text += heading("Limits") + sentences(result.limits, layout);
  return text + alarm(result, layout);
}

std::string study_brief(const StudyResult& result, const TextLayout& layout) {
  std::string text;
  for (const StudyTable& table : result.tables) {
    const std::string part = table_text(table, layout);
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  }
  if (!result.reading.empty()) text += '\n' + sentences(result.reading, layout);
  for (const StudyControl& control : result.controls) {
    if (!control.failed) continue;
    text += wrapped("- Control: " + sentence(control.what) + " It must fail this: " +
                        sentence(control.check) + " It does: " + sentence(control.figures),
                    layout, 2);
  }
  text += sentences(result.limits, layout);
  return text + alarm(result, layout);
}

}  // namespace volvelle
