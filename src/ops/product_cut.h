#pragma once

#include <cstdint>

namespace volvelle {

/// Most rows and panels that one task takes: their sums (256 KiB) and one block of depth of
/// the left rows (260 KiB) stay in a core's second-level cache.
inline constexpr std::int64_t kTaskRows = 260;
inline constexpr std::int64_t kTaskPanels = 8;
/// Of bfloat16 pairs it is the left rows over the whole depth that stay there, while panels go by.
inline constexpr std::int64_t kPairTaskBytes = 3 << 18;
inline constexpr std::int64_t kPairTaskRows = 512;
/// What products of pairs take at a time.
inline constexpr std::int64_t kPairRowUnit = 32;
/// So few rows of a left operand stay in the caches whole: what counts is that panels are read as
/// they lie.
inline constexpr std::int64_t kFewRows = 26;

/// What one task computes.
struct ProductTask {
  std::int64_t place = 0;  ///< of the batch
  std::int64_t first_row = 0, rows = 0;
  std::int64_t first_panel = 0, panels = 0;  ///< panels of the output
};

/// A batch of products cut into tasks. The cut decides only who computes an element, never how.
class ProductCut {
 public:
  struct Extent {
    std::int64_t places = 0, rows = 0, panels = 0, depth = 0;
    int panels_per_output = 1;  ///< 2 for gated panels
    bool in_pairs = false;
    bool copies_left = false;  ///< tasks copy their rows, so that panels had better not be cut
  };

  ProductCut(const Extent& extent, int threads);

  std::int64_t tasks() const { return extent_.places * row_cuts_ * panel_cuts_; }
  std::int64_t row_cuts() const { return row_cuts_; }  ///< of one place
  int threads() const { return threads_; }  ///< 1 where waking others would cost more than it saves
  ProductTask task(std::int64_t index) const;

 private:
  std::int64_t row_at(std::int64_t cut) const;

  Extent extent_;
  int threads_;
  std::int64_t row_cuts_, panel_cuts_;
};

}  // namespace volvelle
