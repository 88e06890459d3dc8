#include <algorithm>
#include <cmath>

#include "volvelle/check/property_report.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle {
namespace {

// Where a row was measured: a path, or a scheme.
std::string place_of(const PropertyRow& row) {
  if (!row.scheme.empty()) return row.scheme;
  return row.path == "fused" ? "fused on " + row.simd : row.path;
}

// One property beside one control over all routes.
struct Line {
  std::string property, control;
  double error = 0, tolerance = 0, control_error = 0;
  PropertyVerdict verdict = PropertyVerdict::holds;
};

std::vector<Line> lines_of(const std::vector<PropertyRow>& rows) {
  std::vector<Line> lines;
  for (const PropertyRow& row : rows) {
    const auto same = [&](const Line& line) {
      return line.property == row.property && line.control == row.control;
    };
    const auto found = std::find_if(lines.begin(), lines.end(), same);
    if (found == lines.end()) {
      lines.push_back(
          {row.property, row.control, row.error, row.tolerance, row.control_error, row.verdict});
      continue;
    }
    found->error = std::max(found->error, row.error);
    found->control_error = std::min(found->control_error, row.control_error);
    if (found->verdict != PropertyVerdict::fails && row.verdict != PropertyVerdict::holds) {
      found->verdict = row.verdict;
    }
  }
  return lines;
}

// For a narrow column; the rows below the table say it in full.
std::string word_of(PropertyVerdict verdict) {
  switch (verdict) {
    case PropertyVerdict::holds:
      return "holds";
    case PropertyVerdict::fails:
      return "FAILS";
    case PropertyVerdict::control_passes:
      break;
  }
  return "BLIND";
}

// Two significant digits, for a narrow column.
std::string short_number(double value) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "inf";
  if (value >= 1e4 || value < 1e-2) {
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    const double digits = std::round(value / power * 10) / 10;
    const int exponent = static_cast<int>(std::floor(std::log10(value))) + (digits >= 10 ? 1 : 0);
    return rounded(digits >= 10 ? digits / 10 : digits, 1) + 'e' + std::to_string(exponent);
  }
  return rounded(value, value < 1 ? 3 : value < 100 ? 1 : 0);
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

// "fused on avx2, scalar; composed", or the schemes, and how many that are.
struct Routes {
  std::size_t count = 0;
  std::string text;
};

Routes routes_of(const std::vector<PropertyRow>& rows) {
  std::vector<std::string> sets, others, all;
  for (const PropertyRow& row : rows) {
    const std::string route = place_of(row);
    if (std::find(all.begin(), all.end(), route) != all.end()) continue;
    all.push_back(route);
    if (row.path == "fused") {
      sets.push_back(row.simd);
    } else {
      others.push_back(route);
    }
  }
  if (!sets.empty()) others.insert(others.begin(), "fused on " + joined(sets, ", "));
  return {all.size(), joined(others, "; ")};
}

std::string complaint(const PropertyRow& row) {
  const std::string at = row.property + ", " + place_of(row) + ": ";
  std::string text = row.verdict == PropertyVerdict::fails
                         ? at + "fails with an error of " + short_number(row.error) + ", " +
                               short_number(row.tolerance) + " allowed"
                         : at + "its control, " + row.control + ", passes with an error of " +
                               short_number(row.control_error) + ", " +
                               short_number(row.tolerance) + " allowed";
  if (!row.note.empty()) text += " (" + row.note + ")";
  return wrapped(text, {.indent = 2}, 2);
}

// Every property that fails and every control that passes, once per route.
std::string complaints(const std::vector<PropertyRow>& rows) {
  std::string text;
  std::string last;
  for (const PropertyRow& row : rows) {
    if (row.verdict == PropertyVerdict::holds) continue;
    const std::string line = complaint(row);
    if (line != last) text += line;
    last = line;
  }
  return text.empty() ? text : "\nNot as promised\n" + text;
}

// What a path refused, properties with the same reason together.
std::string refusals(const std::vector<PropertyRefusal>& refused) {
  struct Group {
    std::string path, reason;
    std::vector<std::string> properties;
  };
  std::vector<Group> groups;
  for (const PropertyRefusal& each : refused) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.path == each.path && g.reason == each.reason;
    });
    if (group == groups.end()) group = groups.insert(group, {each.path, each.reason, {}});
    std::vector<std::string>& names = group->properties;
    if (std::find(names.begin(), names.end(), each.property) == names.end()) {
      names.push_back(each.property);
    }
  }
  std::string text = groups.empty() ? "" : "\nRefused\n";
  for (const Group& group : groups) {
    text += wrapped(group.path + ", " + joined(group.properties, ", ") + ": " + group.reason,
                    {.indent = 2}, 2);
  }
  return text;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + (count == 1 ? one : many);
}

std::string conclusion(const PropertyReport& report, std::size_t properties, std::size_t controls) {
  std::string text = "\nNothing was measured.\n";
  if (!report.rows.empty()) {
    const Routes routes = routes_of(report.rows);
    const std::string result =
        report.holds() ? counted(properties, " property holds and ", " properties hold and ") +
                             counted(controls, " control fails", " controls fail")
                       : std::string("Checked");
    text = '\n' + wrapped(result + " on " +
                              (report.of == "attention"
                                   ? counted(routes.count, " route: ", " routes: ")
                                   : counted(routes.count, " scheme: ", " schemes: ")) +
                              routes.text + '.',
                          {.indent = 0});
  }
  if (!report.complete) text += "Stopped early: what is missing was not measured.\n";
  return text;
}

}  // namespace

std::string property_text(const PropertyReport& report) {
  const std::vector<Line> lines = lines_of(report.rows);
  Table table{.titles = {"property", "error", "allowed", "control", "its error", "verdict"},
              .rows = {}};
  std::size_t properties = 0;
  std::string last;
  for (const Line& line : lines) {
    const bool first = line.property != last;
    last = line.property;
    properties += first ? 1 : 0;
    table.rows.push_back({first ? line.property : "", first ? short_number(line.error) : "",
                          first ? short_number(line.tolerance) : "", line.control,
                          short_number(line.control_error), word_of(line.verdict)});
  }
  return "Properties of " + report.of + ", each beside a control that must fail\n\n" +
         render(table) + complaints(report.rows) + refusals(report.refused) +
         conclusion(report, properties, lines.size());
}

std::string property_list_text(const std::vector<PropertyEntry>& entries) {
  std::string text;
  for (const PropertyEntry& entry : entries) {
    text += (text.empty() ? "" : "\n") + entry.name + '\n' + wrapped(entry.sentence) +
            wrapped((entry.controls.size() == 1 ? "Control: " : "Controls: ") +
                    joined(entry.controls, "; ") + ".");
  }
  return text;
}

}  // namespace volvelle
