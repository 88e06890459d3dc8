#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Float32 tables with a row for each absolute position, made when a position is first asked for
/// and kept: a row never changes, so whoever holds a shorter table holds the same numbers. For use
/// from several threads at once.
class GrowingTables {
 public:
  /// Writes the row of a position, `columns` numbers for each table.
  using Fill = std::function<void(std::int64_t position, float* const* rows)>;

  GrowingTables(int tables, std::int64_t columns, Fill fill);

  /// Tables (P, columns) with P >= rows. Throws InvalidArgument where the machine's memory does not
  /// hold them.
  std::vector<Tensor> at_least(std::int64_t rows);

 private:
  void grow(std::int64_t rows);

  std::int64_t columns_;
  Fill fill_;
  std::mutex mutex_;
  std::vector<Tensor> tables_;
};

/// The tables of this key, which all who ask share for as long as one of them keeps it: layers, and
/// models with the same settings.
std::shared_ptr<GrowingTables> shared_tables(const std::string& kind,
                                             const std::vector<double>& numbers, int tables,
                                             std::int64_t columns, GrowingTables::Fill fill);

}  // namespace volvelle
