#include "nn/positions/rotary_tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "nn/positions/position_values.h"
#include "nn/positions/rotary_rules.h"

namespace volvelle {
namespace {

constexpr const char* kName = "rotary";

std::shared_ptr<GrowingTables> tables_for(const RotaryFrequencies& made) {
  std::vector<double> numbers = made.frequencies;
  numbers.push_back(made.attention);
  return shared_tables(kName, numbers, 2, static_cast<std::int64_t>(made.frequencies.size()),
                       [made](std::int64_t position, float* const* rows) {
                         for (std::size_t i = 0; i < made.frequencies.size(); ++i) {
                           const double angle = static_cast<double>(position) * made.frequencies[i];
                           rows[0][i] = static_cast<float>(made.attention * std::cos(angle));
                           rows[1][i] = static_cast<float>(made.attention * std::sin(angle));
                         }
                       });
}

}  // namespace

RotaryTableSource::RotaryTableSource(RotaryOptions options, std::int64_t head_width)
    : options_(std::move(options)), head_width_(head_width) {
  steady_ = tables_for(rotary_frequencies(options_, head_width_, 0));
}

std::optional<std::int64_t> RotaryTableSource::steady_positions() const {
  return by_length() ? options_.original : std::nullopt;
}

std::int64_t RotaryTableSource::kind_of(std::int64_t length) const {
  if (!by_length() || length <= *options_.original) return 0;
  return options_.scaling == RotaryScaling::dynamic ? length : *options_.original + 1;
}

std::shared_ptr<GrowingTables> RotaryTableSource::tables_of(std::int64_t kind) const {
  return kind == 0 ? steady_ : tables_for(rotary_frequencies(options_, head_width_, kind));
}

RotaryTables RotaryTableSource::at(const AttentionPlaces& places) const {
  check_table_rows(kName, places.positions);  // before one table for each row of a batch
  std::vector<std::int64_t> kinds{kind_of(places.positions)};
  if (by_length() && places.row_lengths) {
    kinds = position_values(kName, places.row_lengths);
    for (std::int64_t& kind : kinds) kind = kind_of(kind);
    if (kinds.empty()) kinds.push_back(0);
  }
  if (std::ranges::all_of(kinds, [&](std::int64_t kind) { return kind == kinds[0]; })) {
    kinds.resize(1);
    if (kinds[0] == 0) {
      const std::vector<Tensor> found = steady_->at_least(places.positions);
      return {.cosines = found[0], .sines = found[1]};
    }
  }
  return by_rows(kinds, places.positions);
}

RotaryTables RotaryTableSource::by_rows(const std::vector<std::int64_t>& kinds,
                                        std::int64_t positions) const {
  const std::lock_guard lock(mutex_);
  if (recent_.kinds == kinds && recent_.positions >= positions) return recent_.tables;
  const auto rows = static_cast<std::int64_t>(kinds.size());
  const std::int64_t pairs = rotary_columns(options_, head_width_) / 2;
  RotaryTables made;
  if (rows == 1) {
    const std::vector<Tensor> found = tables_of(kinds[0])->at_least(positions);
    made = {.cosines = found[0], .sines = found[1]};
  } else {
    made = {.cosines = Tensor(DType::float32, {rows, positions, pairs}),
            .sines = Tensor(DType::float32, {rows, positions, pairs})};
    const std::int64_t part = positions * pairs;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::vector<Tensor> found =
          tables_of(kinds[static_cast<std::size_t>(row)])->at_least(positions);
      std::copy_n(found[0].data<float>(), part, made.cosines.data<float>() + row * part);
      std::copy_n(found[1].data<float>(), part, made.sines.data<float>() + row * part);
    }
  }
  recent_ = {.kinds = kinds, .positions = positions, .tables = made};
  return made;
}

}  // namespace volvelle
