#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "nn/positions/growing_tables.h"
#include "volvelle/nn/positions/rotary.h"

namespace volvelle {

/// Cosines and sines of a rotary scheme by absolute position. For use from several threads at once.
class RotaryTableSource {
 public:
  /// Throws what `rotary_frequencies` throws.
  RotaryTableSource(RotaryOptions options, std::int64_t head_width);

  bool by_length() const { return depends_on_length(options_); }
  /// Up to this length of a text turns do not depend on it; absent: never.
  std::optional<std::int64_t> steady_positions() const;

  /// Tables that cover all places: one for all rows of a batch, or one for each where their
  /// lengths ask for different ones.
  RotaryTables at(const AttentionPlaces& places) const;

 private:
  /// What a text's length comes to: two texts of the same have the same frequencies.
  std::int64_t kind_of(std::int64_t length) const;
  std::shared_ptr<GrowingTables> tables_of(std::int64_t kind) const;
  RotaryTables by_rows(const std::vector<std::int64_t>& kinds, std::int64_t positions) const;

  RotaryOptions options_;
  std::int64_t head_width_;
  std::shared_ptr<GrowingTables> steady_;  ///< of texts within the steady positions

  /// Tables of the lengths last asked for: all layers of a model ask for the same ones in turn.
  struct Recent {
    std::vector<std::int64_t> kinds;
    std::int64_t positions = 0;
    RotaryTables tables;
  };
  mutable std::mutex mutex_;
  mutable Recent recent_;
};

}  // namespace volvelle
