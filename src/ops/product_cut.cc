#include "ops/product_cut.h"

#include <algorithm>

namespace volvelle {
namespace {

// Multiply-adds that take about 10 microseconds, and what reading one weight from beyond the
// caches costs in them.
constexpr double kWorthWaking = 1 << 20;
constexpr double kPerWeight = 8;
// Tasks per thread, so that nobody waits long for the last one, and the least that one is worth.
constexpr std::int64_t kTasksPerThread = 4;
constexpr double kSmallestTask = 1 << 18;

std::int64_t most_pair_rows(std::int64_t depth) {
  const std::int64_t fitting = kPairTaskBytes / (2 * std::max<std::int64_t>(depth, 1));
  return std::clamp(fitting / kPairRowUnit * kPairRowUnit, 4 * kPairRowUnit, kPairTaskRows);
}

}  // namespace

ProductCut::ProductCut(const Extent& extent, int threads) : extent_(extent) {
  const std::int64_t most_panels = kTaskPanels / extent.panels_per_output;
  const double work = static_cast<double>(extent.places) *
                      (static_cast<double>(extent.rows) + kPerWeight) *
                      static_cast<double>(extent.panels) * 32.0 * extent.panels_per_output *
                      static_cast<double>(extent.depth + 1);
  threads_ = work < kWorthWaking ? 1 : threads;
  const std::int64_t most_rows = extent.in_pairs ? most_pair_rows(extent.depth) : kTaskRows;
  row_cuts_ = (extent.rows + most_rows - 1) / most_rows;
  panel_cuts_ = extent.in_pairs ? 1 : (extent.panels + most_panels - 1) / most_panels;
  const std::int64_t others = extent.places * row_cuts_;
  // Rows of pairs are often copied for a task, once more for every cut of the panels.
  const bool even = extent.in_pairs && others >= 2 * threads_ && others % threads_ == 0;
  if (threads_ > 1 && others > 0 && !even) {
    const std::int64_t worth = static_cast<std::int64_t>(
        std::min(work / kSmallestTask, static_cast<double>(kTasksPerThread * threads_)));
    // What would be copied more often is the larger operand: cut along it.
    const std::int64_t most_cuts = extent.rows / (2 * kFewRows);
    const bool left_is_larger = extent.rows >= 32 * extent.panels && most_cuts >= 4;
    if (extent.copies_left && left_is_larger && !extent.in_pairs) {
      const std::int64_t wanted = worth / (extent.places * panel_cuts_);
      row_cuts_ = std::max(row_cuts_, std::min(wanted, most_cuts));
    }
    const std::int64_t cuts = extent.places * row_cuts_;
    panel_cuts_ = std::max(panel_cuts_, (worth + cuts - 1) / cuts);
  }
  panel_cuts_ = std::min(panel_cuts_, extent.panels);
}

std::int64_t ProductCut::row_at(std::int64_t cut) const {
  if (!extent_.in_pairs) return extent_.rows * cut / row_cuts_;
  const std::int64_t units = (extent_.rows + kPairRowUnit - 1) / kPairRowUnit;
  return std::min(extent_.rows, units * cut / row_cuts_ * kPairRowUnit);
}

ProductTask ProductCut::task(std::int64_t index) const {
  ProductTask task;
  const std::int64_t panel_cut = index % panel_cuts_;
  index /= panel_cuts_;
  const std::int64_t row_cut = index % row_cuts_;
  task.place = index / row_cuts_;
  task.first_row = row_at(row_cut);
  task.rows = row_at(row_cut + 1) - task.first_row;
  task.first_panel = extent_.panels * panel_cut / panel_cuts_;
  task.panels = extent_.panels * (panel_cut + 1) / panel_cuts_ - task.first_panel;
  return task;
}

}  // namespace volvelle
