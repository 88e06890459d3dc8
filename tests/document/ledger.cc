#include "document/ledger.h"

#include <algorithm>
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

// Every table row whose first cell is an item such as P12.
std::vector<std::vector<std::string>> item_rows() {
  const std::string path = VOLVELLE_SOURCE_DIR "/docs/document.md";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] != '|') continue;
    auto cells = cells_of(line);
    if (!cells.empty() && is_item(cells[0])) rows.push_back(std::move(cells));
  }
  return rows;
}

}  // namespace

std::vector<LedgerRow> read_ledger() {
  std::vector<LedgerRow> rows;
  for (const auto& cells : item_rows()) {
    if (cells.size() != 5) continue;
    LedgerRow row{.item = cells[0], .command = cells[2], .key = cells[3], .figures = {}};
    std::istringstream figures(cells[4]);
    for (std::string figure; figures >> figure;) row.figures.push_back(figure);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> ledger_items() {
  std::vector<std::string> items;
  for (const auto& cells : item_rows()) items.push_back(cells[0]);
  return items;
}

}  // namespace volvelle::testing
