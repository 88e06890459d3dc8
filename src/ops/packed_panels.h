#pragma once

#include <cstdint>

#include "ops/panel_source.h"
#include "ops/weight_storage.h"

namespace volvelle {

/// A right operand packed whole before a product, in memory that the calling thread keeps: one at a
/// time.
class PackedPanels : public StoredPanels {
 public:
  struct Extent {
    std::int64_t depth = 0, columns = 0;
    std::int64_t offset = 0;  ///< elements from where a view starts
    WeightFormat format = WeightFormat::float32;
  };

  /// So many bytes it would take.
  static std::int64_t bytes(const Extent& extent);

  PackedPanels(const PanelSource& source, const Extent& extent, int threads);

 private:
  PackedWeights::Storage storage_;
};

}  // namespace volvelle
