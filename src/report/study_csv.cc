#include <filesystem>

#include "report/study_cells.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

// "runs/out.csv" and "control.rows" to "runs/out.control.rows.csv".
std::string with_key(const std::string& path, const std::string& key) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + '.' + key + whole.extension().string()))
      .string();
}

}  // namespace

std::string study_csv(const StudyTable& table) {
  std::string text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text += (c > 0 ? "," : "") + quoted(table.columns[c].key);
  }
  text += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      text += (c > 0 ? "," : "") + (c < row.size() ? quoted(cell_in_full(row[c])) : "");
    }
    text += '\n';
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> study_csv_files(const StudyResult& result,
                                                                 const std::string& path) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const StudyTable& table : result.tables) {
    files.emplace_back(files.empty() ? path : with_key(path, table.key), study_csv(table));
  }
  for (std::size_t i = 0; i < result.controls.size(); ++i) {
    const std::string control = i == 0 ? "control." : "control-" + std::to_string(i + 1) + '.';
    for (const StudyTable& table : result.controls[i].tables) {
      files.emplace_back(with_key(path, control + table.key), study_csv(table));
    }
  }
  return files;
}

}  // namespace volvelle
