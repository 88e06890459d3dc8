#include <cmath>

#include "check/positions/measurements.h"
#include "check/positions/property.h"
#include "check/positions/twins.h"
#include "volvelle/check/compare.h"

namespace volvelle::positions {
namespace {

// What two correct programs may differ by, through the products, norms and attention of all layers.
double rounding() {
  constexpr double kSublayers = 2 * kLayers + 1;
  return kSublayers * relative_tolerance(DType::float32, DType::float32, 2 * kWidth, 16);
}

constexpr Concerns kAll = [](const SchemeTraits&) { return true; };
constexpr Concerns kTold = [](const SchemeTraits& traits) { return traits.any; };
constexpr Concerns kUntold = [](const SchemeTraits& traits) { return !traits.any; };
constexpr Concerns kRelative = [](const SchemeTraits& traits) {
  return traits.any && traits.relative;
};
constexpr Concerns kAbsolute = [](const SchemeTraits& traits) { return !traits.relative; };
constexpr Concerns kTurns = [](const SchemeTraits& traits) { return traits.turns; };
constexpr Concerns kPartial = [](const SchemeTraits& traits) { return traits.partial; };
constexpr Concerns kLearns = [](const SchemeTraits& traits) { return traits.learns; };
constexpr Concerns kEnds = [](const SchemeTraits& traits) { return traits.positions >= 0; };
constexpr Concerns kEndless = [](const SchemeTraits& traits) { return traits.positions < 0; };

}  // namespace

const std::vector<PositionProperty>& catalog() {
  static const std::vector<PositionProperty> kCatalog{
      {"shift",
       "Where a scheme says that it is relative, all positions grow by 37 and nothing changes; "
       "where it says that it is absolute, everything does.",
       kAll,
       rounding(),
       shift_error,
       {{"odd tokens stay behind", kRelative, leave_odd_tokens_behind},
        {"positions ignored", kAbsolute, ignore_positions},
        {"sinusoids slipped in", kUntold, slip_in_sinusoids}}},
      {"explicit",
       "Positions are what the caller says, not the places of tokens: without a mask, tokens in "
       "another order with their positions give the same, in that order.",
       kAll,
       rounding(),
       permutation_error,
       {{"positions ignored", kTold, ignore_positions},
        {"masked causally", kUntold, mask_causally}}},
      {"order",
       "Without a mask, tokens in another order give something else under every scheme, and the "
       "same, in that order, without one.",
       kAll,
       rounding(),
       order_error,
       {{"all tokens at 0", kTold, stand_all_at_0}, {"masked causally", kUntold, mask_causally}}},
      {"cache",
       "Token by token, with a fork and tokens forgotten and read again, the logits are those of a "
       "whole pass over what the sequence holds.",
       kAll,
       rounding(),
       cache_error,
       {{"turned from 0 each step", kTold, restart_positions},
        {"newest token forgotten", kAll, forget_newest_token}}},
      {"chunks",
       "A prompt in chunks of any size gives the logits of a whole pass.",
       kAll,
       rounding(),
       chunk_error,
       {{"turned from 0 each chunk", kTold, restart_positions},
        {"earlier chunks forgotten", kAll, forget_earlier_chunks}}},
      {"padding",
       "Rows of a padded batch, on either side, are those of each text alone. (Padding counted as "
       "positions is a shift: only absolute schemes can show it.)",
       kAll,
       rounding(),
       padding_error,
       {{"padding seen", kAll, see_padding}, {"padding counted", kAbsolute, count_padding}}},
      {"packing",
       "Documents packed into one row are those of each alone: segments part them, and positions "
       "start again.",
       kAll,
       rounding(),
       packing_error,
       {{"segments forgotten", kAll, forget_segments},
        {"numbered through", kAbsolute, number_through}}},
      {"pairing",
       "Projections converted to the other pairing turn to the same logits, and back to the same "
       "bits.",
       kTurns,
       rounding(),
       pairing_error,
       {{"pairing swapped", kTurns, leave_pairing},
        {"values converted too", kTurns, convert_values_too},
        {"whole heads converted", kPartial, convert_whole_heads}}},
      {"gradients",
       "The gradient by every parameter, the scheme's own included, is the central difference of "
       "the loss in double precision, at positions with gaps.",
       kAll,
       1e-6,
       gradient_error,
       {{"half of the queries'", kAll, halve_query_gradients},
        {"scheme's dropped", kLearns, drop_scheme_gradients}}},
      {"end",
       "A scheme has as many positions as it says, and refuses the next one by that number; one "
       "without an end is finite at position 100000.",
       kAll,
       0,
       end_error,
       {{"stops at the last", kEnds, stop_at_last_position},
        {"ends at 64", kEndless, end_at_64, true}}},
      {"half-precision",
       "Around position 20000 a model computed in bfloat16 is the float32 one within the steps of "
       "the type: positions, angles and tables are not held in it.",
       kTold,
       kLayers * relative_tolerance(DType::bfloat16, DType::bfloat16, kWidth, 16),
       half_precision_error,
       {{"positions in bfloat16", kTold, round_positions}}},
  };
  return kCatalog;
}

}  // namespace volvelle::positions
