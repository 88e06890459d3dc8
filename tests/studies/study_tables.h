#pragma once

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "volvelle/report/study_result.h"

namespace volvelle::testing {

/// The table of a study with this key.
inline const StudyTable& table(const StudyResult& result, const std::string& key) {
  for (const StudyTable& one : result.tables) {
    if (one.key == key) return one;
  }
  throw std::runtime_error("no table " + key);
}

inline bool has_table(const StudyResult& result, const std::string& key) {
  for (const StudyTable& one : result.tables) {
    if (one.key == key) return true;
  }
  return false;
}

/// One cell, by the key of its column.
template <class T>
const T& cell(const StudyTable& table, std::size_t row, const std::string& key) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].key == key) return std::get<T>(table.rows.at(row).at(column));
  }
  throw std::runtime_error("no column " + key + " in table " + table.key);
}

inline const std::vector<double>& numbers(const StudyTable& table, std::size_t row,
                                          const std::string& key) {
  return cell<std::vector<double>>(table, row, key);
}

/// A single figure, by its JSON key.
template <class T>
T fact(const StudyResult& result, const std::string& key) {
  for (const auto& [name, value] : result.facts) {
    if (name == key) return std::get<T>(value);
  }
  throw std::runtime_error("no fact " + key);
}

}  // namespace volvelle::testing
