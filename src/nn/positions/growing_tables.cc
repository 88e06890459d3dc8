#include "nn/positions/growing_tables.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "nn/parameter_size.h"

namespace volvelle {
namespace {

constexpr std::int64_t kFewestRows = 64;
constexpr std::int64_t kMostRows = std::int64_t{1} << 48;

using Key = std::pair<std::string, std::vector<double>>;

std::int64_t capacity_for(std::int64_t rows) {
  const auto wanted = static_cast<std::uint64_t>(std::clamp(rows, kFewestRows, kMostRows));
  return std::max(rows, static_cast<std::int64_t>(std::bit_ceil(wanted)));
}

}  // namespace

GrowingTables::GrowingTables(int tables, std::int64_t columns, Fill fill)
    : columns_(columns), fill_(std::move(fill)) {
  for (int i = 0; i < tables; ++i) tables_.emplace_back(DType::float32, Shape{0, columns});
}

std::vector<Tensor> GrowingTables::at_least(std::int64_t rows) {
  const std::lock_guard lock(mutex_);
  if (tables_.front().shape()[0] < std::max(rows, kFewestRows)) grow(rows);
  return tables_;
}

void GrowingTables::grow(std::int64_t rows) {
  const std::int64_t had = tables_.front().shape()[0];
  const std::int64_t capacity = capacity_for(rows);
  check_parameters_fit("positions",
                       static_cast<double>(capacity) * static_cast<double>(columns_) *
                           static_cast<double>(tables_.size()),
                       DType::float32);
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

std::shared_ptr<GrowingTables> shared_tables(const std::string& kind,
                                             const std::vector<double>& numbers, int tables,
                                             std::int64_t columns, GrowingTables::Fill fill) {
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<GrowingTables>> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<GrowingTables>& slot = known[{kind, numbers}];
  std::shared_ptr<GrowingTables> shared = slot.lock();
  if (shared) return shared;
  shared = std::make_shared<GrowingTables>(tables, columns, std::move(fill));
  slot = shared;
  return shared;
}

}  // namespace volvelle
