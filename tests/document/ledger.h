#pragma once

#include <string>
#include <vector>

namespace volvelle::testing {

/// A row of docs/document.md that a run of the program can confirm or refute.
struct LedgerRow {
  std::string item;                  ///< P8
  std::string command;               ///< volvelle attend --steps --json
  std::string key;                   ///< JSON pointer: /weights/0
  std::vector<std::string> figures;  ///< as printed: 0.6698, 0.3302
};

/// The rows that name a command, a key and figures.
std::vector<LedgerRow> read_ledger();

/// The items of all rows, in order: P1, P2, ..., C1, ...
std::vector<std::string> ledger_items();

}  // namespace volvelle::testing
