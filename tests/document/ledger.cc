#include "document/ledger.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace volvelle::testing {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" `");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" `") - first + 1);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream rest(text);
  for (std::string word; rest >> word;) words.push_back(trimmed(word));
  return words;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) cells.push_back(trimmed(cell));
  return cells;
}

bool is_item(const std::string& cell) {
  return cell.size() >= 2 && std::string("PCSWL").find(cell[0]) != std::string::npos &&
         std::all_of(cell.begin() + 1, cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct ItemRow {
  int part;
  std::vector<std::string> cells;
};

// Every table row whose first cell is an item such as P12.
std::vector<ItemRow> item_rows() {
  const std::string path = VOLVELLE_SOURCE_DIR "/docs/document.md";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  const std::string heading = "## Part ";
  std::vector<ItemRow> rows;
  int part = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(heading)) part = std::stoi(line.substr(heading.size()));
    if (line.empty() || line[0] != '|') continue;
    auto cells = cells_of(line);
    if (!cells.empty() && is_item(cells[0])) rows.push_back({part, std::move(cells)});
  }
  return rows;
}

}  // namespace

std::vector<LedgerRow> read_ledger() {
  std::vector<LedgerRow> rows;
  for (const auto& [part, cells] : item_rows()) {
    if (cells.size() != 5) continue;
    rows.push_back({.part = part,
                    .item = cells[0],
                    .printed = cells[1],
                    .command = cells[2],
                    .keys = words_of(cells[3]),
                    .figures = words_of(cells[4])});
  }
  return rows;
}

std::vector<std::string> ledger_items() {
  std::vector<std::string> items;
  for (const ItemRow& row : item_rows()) items.push_back(row.cells[0]);
  return items;
}

bool agrees(double value, const LedgerRow& row, const std::string& figure) {
  if (figure == "true" || figure == "false") return value == (figure == "true" ? 1 : 0);
  const bool percent = figure.ends_with('%');
  const std::size_t exponent = figure.find('e');
  const std::size_t end = exponent == std::string::npos ? figure.size() - percent : exponent;
  const std::size_t point = figure.find('.');
  const std::size_t decimals = row.part == 1 ? 4 : point == std::string::npos ? 0 : end - point - 1;
  const double unit =
      exponent == std::string::npos ? 1 : std::pow(10.0, std::stod(figure.substr(exponent + 1)));
  const double half_unit = unit * (0.5 * std::pow(10.0, -static_cast<double>(decimals)) + 1e-9);
  return std::abs((percent ? 100 * value : value) - std::stod(figure)) <= half_unit;
}

}  // namespace volvelle::testing
