#include "cli/scheme_options.h"

#include "volvelle/io/text_file.h"
#include "volvelle/report/study_report.h"

namespace volvelle::cli {
namespace {

void check_positive(const char* option, const std::optional<std::int64_t>& value) {
  if (!value || *value >= 1) return;
  throw UsageError(std::string(option) + " takes 1 or more, not " + std::to_string(*value));
}

}  // namespace

void ModelOptions::declare(CommandLine& line) {
  line.group("Model");
  line.integer("--width", width_, "C", "of the token vectors (64)");
  line.integer("--heads", heads_, "H", "of attention (4)");
  line.integer("--head-width", head_width_, "D", "of queries and keys (width / heads)");
  line.flag("--two-way", two_way_, "attention sees later keys as well");
}

PositionContext ModelOptions::context() const {
  check_positive("--width", width_);
  check_positive("--heads", heads_);
  check_positive("--head-width", head_width_);
  PositionContext context{.causal = !two_way_};
  if (width_) context.width = *width_;
  if (heads_) context.heads = *heads_;
  if (head_width_) context.head_width = *head_width_;
  return context;
}

void SettingOptions::declare(CommandLine& line, const PositionEntry& entry) {
  if (!entry.keys.empty()) line.group("Settings");
  for (const PositionKey& key : entry.keys) {
    auto& value = values_.emplace_back(key.name, std::nullopt).second;
    std::string help = key.sentence;
    if (*key.when != '\0') help = std::string(key.when) + ": " + help;
    if (*key.standard != '\0') help += " (" + std::string(key.standard) + ")";
    line.text("--" + std::string(key.name), value, key.values, help);
  }
}

PositionText SettingOptions::text(const PositionEntry& entry) const {
  PositionText text{.scheme = entry.name, .settings = {}};
  for (const auto& [name, value] : values_) {
    if (value) text.settings.push_back({name, *value});
  }
  return text;
}

void SheetOptions::declare(CommandLine& line, bool with_plot) {
  line.group("How");
  line.flag("--json", json_, "one JSON document on stdout");
  line.text("--csv", csv_, "FILE", "the table as CSV");
  if (with_plot) line.text("--plot", plot_, "FILE", "the charts as one SVG picture");
  line.flag("--force", force_, "replace files that exist");
}

void SheetOptions::check(const StudyResult& sheet) const {
  if (force_ && !csv_ && !plot_) throw UsageError("--force needs a file: --csv or --plot");
  if (csv_ && plot_ && *csv_ == *plot_) {
    throw UsageError("--csv and --plot name the same file, " + *csv_);
  }
  if (csv_ && sheet.tables.empty()) throw UsageError("--csv: " + sheet.name + " has no table");
  if (plot_ && sheet.charts.empty()) throw UsageError("--plot: " + sheet.name + " has no chart");
  for (const auto& path : {csv_, plot_}) {
    if (path) check_text_path(*path, {.force = force_});
  }
}

std::vector<std::string> SheetOptions::write_files(const StudyResult& sheet) const {
  std::vector<std::string> written;
  const auto write = [&](const std::string& path, const std::string& text) {
    write_text_file(path, text, {.force = force_});
    written.push_back(path);
  };
  if (csv_) {
    for (const auto& [path, text] : study_csv_files(sheet, *csv_)) write(path, text);
  }
  if (plot_) write(*plot_, charts_svg(sheet.name, sheet.question, sheet.charts));
  return written;
}

}  // namespace volvelle::cli
