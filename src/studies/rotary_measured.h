#pragma once

#include <string>
#include <vector>

#include "studies/position_rows.h"
#include "studies/rotary_loop.h"
#include "volvelle/studies/rotary.h"

namespace volvelle {

/// A layer with a fault, in the double loop.
struct FaultFigures {
  RotaryFault fault = RotaryFault::none;
  std::string key, name;
  double from_layer = 0;  ///< largest difference from CausalSelfAttention's output
  double shifted = 0;     ///< of the output, when all positions grow by a number
  double leaked = 0;      ///< of earlier outputs, when later tokens change

  static constexpr double kTolerance = 1e-5;
  bool equals_layer() const { return from_layer <= kTolerance; }
  bool by_offset() const { return shifted <= kTolerance; }
  bool causal() const { return leaked <= kTolerance; }
};

/// Everything that the study measures.
struct RotaryMeasured {
  Shape x_shape, head_shape, output_shape;
  std::int64_t parameters = 0, scheme_parameters = 0;
  double from_attention = 0;  ///< output from the library's causal attention of the turned heads
  double from_pairs = 0;      ///< turned queries and keys from the pair-by-pair loop
  double from_values = 0;     ///< values from the projection: they are not turned
  double length_change = 0;   ///< of a query's or key's length by turning, largest
  double leak_with_mask = 0, leak_without_mask = 0;  ///< of the layer itself
  double from_converted = 0;  ///< output from that of converted weights, interleaved
  double score_5_2 = 0, score_12_9 = 0, score_5_3 = 0;
  PositionRows scores;        ///< of one query at i and one key at j
  double score_spread = 0;    ///< along its diagonals, widest
  std::vector<double> rates;  ///< of each pair, read off the tables
  std::vector<FaultFigures> faults;
};

/// Positions by which all grow in `shifted`.
inline constexpr std::int64_t kRotaryShift = 7;
/// Last tokens that change in `leaked`.
inline constexpr std::int64_t kRotaryChanged = 3;

bool measure_rotary(const RotaryStudyOptions& options, const StudyRun& run,
                    RotaryMeasured& measured);

}  // namespace volvelle
