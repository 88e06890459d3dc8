#include "nn/positions/growing_tables.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "nn/parameter_size.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::int64_t kFewestRows = 64;

using Key = std::pair<std::string, std::vector<double>>;

std::int64_t capacity_for(std::int64_t rows) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max(rows, kFewestRows))));
}

}  // namespace

void check_table_rows(const std::string& name, std::int64_t rows) {
  if (rows <= kMostTablePositions) return;
  throw InvalidArgument("[" + name + "] position " + std::to_string(rows - 1) +
                        " is beyond the last, " + std::to_string(kMostTablePositions - 1) +
                        ": a table has a row for each position up to the largest; number the "
                        "tokens of each text from 0 on, or from nearer to it");
}

GrowingTables::GrowingTables(std::string name, int tables, std::int64_t columns, Fill fill)
    : name_(std::move(name)), columns_(columns), fill_(std::move(fill)) {
  for (int i = 0; i < tables; ++i) tables_.emplace_back(DType::float32, Shape{0, columns});
}

std::vector<Tensor> GrowingTables::at_least(std::int64_t rows) {
  check_table_rows(name_, rows);
  const std::lock_guard lock(mutex_);
  if (tables_.front().shape()[0] < std::max(rows, kFewestRows)) grow(rows);
  return tables_;
}

void GrowingTables::grow(std::int64_t rows) {
  const std::int64_t had = tables_.front().shape()[0];
  const std::int64_t capacity = capacity_for(rows);
  check_numbers_fit(name_.c_str(),
                    static_cast<double>(capacity) * static_cast<double>(columns_) *
                        static_cast<double>(tables_.size()),
                    "numbers of position tables", DType::float32);
  std::vector<Tensor> grown;
  std::vector<float*> at;
  for (const Tensor& table : tables_) {
    Tensor& made = grown.emplace_back(DType::float32, Shape{capacity, columns_});
    if (had > 0) std::memcpy(made.raw(), table.raw(), table.bytes());
    at.push_back(made.data<float>() + had * columns_);
  }
  for (std::int64_t position = had; position < capacity; ++position) {
    fill_(position, at.data());
    for (float*& row : at) row += columns_;
  }
  tables_ = std::move(grown);
}

std::shared_ptr<GrowingTables> shared_tables(const std::string& name,
                                             const std::vector<double>& numbers, int tables,
                                             std::int64_t columns, GrowingTables::Fill fill) {
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<GrowingTables>> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<GrowingTables>& slot = known[{name, numbers}];
  std::shared_ptr<GrowingTables> shared = slot.lock();
  if (shared) return shared;
  shared = std::make_shared<GrowingTables>(name, tables, columns, std::move(fill));
  slot = shared;
  return shared;
}

}  // namespace volvelle
