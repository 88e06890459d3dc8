#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Tables end here: a row stands for each position up to the largest, so a single far one would
/// make gigabytes of rows that nobody reads.
inline constexpr std::int64_t kMostTablePositions = std::int64_t{1} << 24;

/// Throws InvalidArgument, beginning with "[name]", where tables of so many rows would go further.
void check_table_rows(const std::string& name, std::int64_t rows);

/// Float32 tables with a row for each absolute position, made when a position is first asked for
/// and kept: a row never changes, so whoever holds a shorter table holds the same numbers. For use
/// from several threads at once.
class GrowingTables {
 public:
  /// Writes the row of a position, `columns` numbers for each table.
  using Fill = std::function<void(std::int64_t position, float* const* rows)>;

  /// `name` begins messages.
  GrowingTables(std::string name, int tables, std::int64_t columns, Fill fill);

  /// Tables (P, columns) with P >= rows. Throws InvalidArgument beyond kMostTablePositions rows and
  /// where the machine's memory does not hold them.
  std::vector<Tensor> at_least(std::int64_t rows);

 private:
  void grow(std::int64_t rows);

  std::string name_;
  std::int64_t columns_;
  Fill fill_;
  std::mutex mutex_;
  std::vector<Tensor> tables_;
};

/// The tables of this key, a scheme's name and numbers, which all who ask share for as long as one
/// of them keeps it: layers, and models with the same settings.
std::shared_ptr<GrowingTables> shared_tables(const std::string& name,
                                             const std::vector<double>& numbers, int tables,
                                             std::int64_t columns, GrowingTables::Fill fill);

}  // namespace volvelle
