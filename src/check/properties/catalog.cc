#include "check/properties/measurements.h"
#include "check/properties/property.h"
#include "check/properties/random_problem.h"
#include "check/properties/twins.h"
#include "volvelle/check/compare.h"

namespace volvelle::properties {
namespace {

// What two correct programs may differ by on sums of these lengths.
double rounding(std::int64_t width, std::int64_t keys, DType dtype = DType::float32) {
  return relative_tolerance(dtype, dtype, width, keys);
}

// The same where scores are as large as that: they are rounded, too, and weights are their
// exponentials.
double rounding_of_scores(double largest, std::int64_t width, std::int64_t keys) {
  return rounding(width, keys) + largest * 0x1p-23;
}

}  // namespace

const std::vector<Property>& catalog() {
  static const std::vector<Property> kCatalog{
      {"agreement",
       "On random problems with any options together, output, log-sum-exp, entropy and column sums "
       "are the oracle's: the formula in double precision.",
       rounding_of_scores(50, kWidestProblem, kLongestProblem),
       agreement_error,
       {edited("scale forgotten", forget_scale)}},
      {"double-precision",
       "float64 arrays are computed in float64.",
       rounding(kWidestProblem, kLongestProblem, DType::float64) + 50 * 0x1p-52,
       double_precision_error,
       {{"computed in float32", compute_in_float32}}},
      {"half-precision",
       "bfloat16 and float16 arrays give the oracle's answer within the steps of the type, also "
       "where a product of query and key is beyond float16.",
       rounding(64, 140, DType::bfloat16),
       half_precision_error,
       {{"scores held in 16 bits", hold_scores_in_16_bits}}},
      {"scaling",
       "Scores are the products of query and key over the root of the head width.",
       rounding(140, 140),
       scaling_error,
       {edited("scale forgotten", forget_scale)}},
      {"biases",
       "A dense bias, ALiBi slopes, a table by offset and T5 buckets are added to the scaled "
       "scores: writing the sums into the products gives the same.",
       rounding(140, 140),
       bias_error,
       {edited("bias dropped", drop_bias),
        faulty_oracle("bias before scaling", AttentionFault::bias_before_scaling),
        faulty_oracle("slopes added", AttentionFault::slope_sign)}},
      {"soft-cap",
       "A score s becomes c tanh(s / c).",
       rounding(140, 140),
       cap_error,
       {edited("cap dropped", drop_cap)}},
      {"sinks",
       "A sink takes weight like one more key of that score whose value is 0.",
       rounding(140, 141),
       sink_error,
       {edited("sink dropped", drop_sinks)}},
      {"softmax",
       "The weights of each row sum to 1: values of 1 give outputs of 1, and all columns together "
       "hold as many weights as there are rows.",
       rounding(20, 140),
       softmax_error,
       {faulty_oracle("softmax over columns", AttentionFault::softmax_over_columns)}},
      {"shift",
       "Adding 4096 to every score leaves the output and moves the log-sum-exp by 4096: large "
       "scores do not overflow.",
       rounding_of_scores(4096, 140, 140),
       shift_error,
       {{"maximum not subtracted", keep_the_maximum}}},
      {"grouped-heads",
       "Query heads that share a key head give what they give when each has a copy of it.",
       rounding(20, 140),
       grouped_heads_error,
       {edited("key heads tiled", tile_key_heads)}},
      {"causality",
       "Other keys and values behind a query's position do not change a bit of its row.",
       0,
       causality_error,
       {edited("mask off by one", shift_positions_by_one)}},
      {"padding",
       "A padded row, on either side, equals the row without its padding.",
       rounding(16, 140),
       padding_error,
       {edited("lengths off by one", lengthen_by_one),
        faulty_oracle("mask after softmax", AttentionFault::mask_after_softmax)}},
      {"packing",
       "Documents packed into one row give what each gives in a row of its own.",
       rounding(16, 140),
       packing_error,
       {edited("segments dropped", drop_segments)}},
      {"windows",
       "A window of N holds the N keys up to and with the query's own position; to the right it "
       "counts the same way. Each query equals itself alone over exactly those keys.",
       rounding(16, 140),
       window_error,
       {edited("window too wide by one", widen_windows)}},
      {"prefix",
       "The first N keys are seen by every query although the rest is causal.",
       rounding(16, 140),
       prefix_error,
       {edited("prefix too long by one", lengthen_prefix)}},
      {"chunks",
       "A query sees the keys of its own chunk of positions and no other.",
       rounding(16, 140),
       chunk_error,
       {edited("chunks dropped", drop_chunks)}},
      {"empty-rows",
       "A query that sees no key has an output of exactly 0 and a log-sum-exp of -inf, or the "
       "sink's logit.",
       0,
       empty_row_error,
       {{"mask by a number, -1e9", mask_by_a_number}}},
      {"no-leaks",
       "NaN and infinity in keys and values that a query does not see leave its row as it was.",
       rounding(16, 140),
       leak_error,
       {{"mask by a number, -1e9", mask_by_a_number},
        faulty_oracle("mask after softmax", AttentionFault::mask_after_softmax)}},
      {"step-by-step",
       "One token at a time and chunks of any size give the rows of the full pass, with a window, "
       "biases by position and sinks.",
       rounding(16, 70),
       step_by_step_error,
       {edited("top-left alignment", align_top_left)}},
      {"permutation",
       "Keys in another order, with their values, positions, bias and mask, give the same.",
       rounding_of_scores(50, 16, 140),
       permutation_error,
       {edited("positions stay behind", drop_key_positions)}},
      {"offsets-only",
       "Biases by position see offsets alone: all positions a million further on change no bit.",
       0,
       offset_error,
       {edited("positions dropped", drop_query_positions)}},
      {"threads",
       "1 to 8 threads give the same bits.",
       0,
       thread_error,
       {{"keys split by threads", split_keys_by_threads}}},
      {"neighbours",
       "A row has the same bits alone and in any batch.",
       0,
       neighbour_error,
       {edited("longest length for all", take_longest_length)}},
      {"strides",
       "Slices of a transposed, fused buffer give the bits of contiguous arrays.",
       0,
       stride_error,
       {edited("strides ignored", ignore_strides)}},
  };
  return kCatalog;
}

}  // namespace volvelle::properties
