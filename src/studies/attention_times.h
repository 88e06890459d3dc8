#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/studies/attention_cost.h"

namespace volvelle {

/// One length, batch 1, float32. Milliseconds of one call, the shortest.
struct AttentionTimes {
  std::int64_t tokens = 0;
  double projections = 0;     ///< x (T,C) to queries, keys and values, and back
  double attention = 0;       ///< fused, no mask
  double causal = 0;          ///< fused, causal: half of the tiles are not met
  double turned = 0;          ///< fused, no mask, queries and keys turned
  double fused_bytes = 0;     ///< resident at most beyond inputs and output
  double composed_bytes = 0;  ///< the same where scores stand as a matrix; one head at a time
  double score_bytes = 0;     ///< of all heads' scores, which a naive program keeps at once
};

/// Time and tiles of one rule at the longest length.
struct TileTimes {
  std::string rule;       ///< "causal, window 256"
  std::int64_t live = 0;  ///< tiles met, over all heads
  std::int64_t all = 0;
  double milliseconds = 0;
};

struct MeasuredCosts {
  std::vector<AttentionTimes> by_length;
  std::vector<TileTimes> by_rule;
  int threads = 0;
};

/// Ends early, between two times, where it is told to: returns whether it came to its end.
bool measure_attention_costs(const AttentionCostOptions& options, const StudyRun& run,
                             MeasuredCosts& measured);

/// The length at which two costs meet, straight between the measured lengths on axes of powers;
/// 0: they do not.
double crossing(const std::vector<double>& tokens, const std::vector<double>& rising,
                const std::vector<double>& other);

}  // namespace volvelle
