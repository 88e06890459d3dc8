#pragma once

#include <string>
#include <vector>

namespace volvelle::testing {

/// A row of docs/document.md that a run of the program can confirm or refute.
struct LedgerRow {
  int part = 0;                      ///< of the document, from 1 on
  std::string item;                  ///< P8
  std::string printed;               ///< what it says, in words
  std::string command;               ///< volvelle attend --steps --json
  std::vector<std::string> keys;     ///< JSON pointers: /weights/0
  std::vector<std::string> figures;  ///< as printed: 0.6698, 0.3302, or 77% of a share
};

/// Whether a value rounds to a printed figure: to its own last digit in general ("1.374e+11" to
/// that of its mantissa); to the fourth behind the point in part 1, which prints four and leaves
/// out zeros. True and false are the numbers 1 and 0.
bool agrees(double value, const LedgerRow& row, const std::string& figure);

/// The rows that name a command, a key and figures.
std::vector<LedgerRow> read_ledger();

/// The items of all rows, in order: P1, P2, ..., C1, ...
std::vector<std::string> ledger_items();

}  // namespace volvelle::testing
