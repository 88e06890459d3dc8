#include "ops/packed_panels.h"

#include <algorithm>

#include "base/aligned_memory.h"
#include "base/kept_by_thread.h"
#include "base/thread_pool.h"

namespace volvelle {
namespace {

using kernels::kDepthBlock;
using kernels::kPanelColumns;

struct PackingSpace {
  Workspace workspace;
};

std::int64_t panels_of(std::int64_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns;
}

std::int64_t bytes_of_panel(const PackedPanels::Extent& extent) {
  return (extent.depth + 31) / 32 * 32 * kPanelColumns * element_bytes(extent.format);
}

}  // namespace

std::int64_t PackedPanels::bytes(const Extent& extent) {
  std::int64_t all = 0;
  return __builtin_mul_overflow(panels_of(extent.columns), bytes_of_panel(extent), &all) ? INT64_MAX
                                                                                         : all;
}

PackedPanels::PackedPanels(const PanelSource& source, const Extent& extent, int threads)
    : StoredPanels(storage_) {
  storage_.format = extent.format;
  storage_.outputs = extent.columns;
  storage_.inputs = extent.depth;
  storage_.panels = panels_of(extent.columns);
  storage_.panel_bytes = bytes_of_panel(extent);
  storage_.data = static_cast<std::byte*>(
      kept_by_thread<PackingSpace>().workspace.at_least(static_cast<std::size_t>(bytes(extent))));
  const bool in_pairs = extent.format == WeightFormat::bfloat16;
  const int at_once = in_pairs ? kPairDepth : kDepthBlock;
  parallel_for(storage_.panels, threads, [&](std::int64_t panel) {
    for (std::int64_t k = 0; k < extent.depth; k += at_once) {
      const int depth = static_cast<int>(std::min<std::int64_t>(at_once, extent.depth - k));
      std::byte* const to = storage_.at(panel, k);
      if (in_pairs) {
        source.fetch_pairs(extent.offset, panel, 1, k, depth, reinterpret_cast<std::uint32_t*>(to));
      } else if (extent.format == WeightFormat::float64) {
        source.fetch_double(extent.offset, panel, 1, k, depth, reinterpret_cast<double*>(to));
      } else {
        source.fetch(extent.offset, panel, 1, k, depth, reinterpret_cast<float*>(to));
      }
    }
  });
}

}  // namespace volvelle
