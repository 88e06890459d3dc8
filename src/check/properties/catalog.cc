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

double rounding_of_random_problems() {
  return rounding_of_scores(kLargestScore, kWidestProblem, kLongestProblem);
}

}  // namespace

const std::vector<Property>& catalog() {
  static const std::vector<Property> kCatalog{
      {"agreement",
       "On random problems with any options together, output, log-sum-exp, entropy and column sums "
       "are the oracle's: the formula in double precision.",
       rounding_of_random_problems(),
       agreement_error,
       {edited("scale forgotten", forget_scale),
        faulty_oracle("diagonal masked", AttentionFault::strict_diagonal)}},
      {"double-precision",
       "float64 arrays are computed in float64.",
       rounding_of_random_problems() * 0x1p-29,
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
      {"turning",
       "Queries and keys turned by their positions, in either pairing and in part of a head, give "
       "what those that were turned beforehand give; values are not turned.",
       rounding(20, 140),
       turning_error,
       {edited("pairing swapped", swap_pairing), edited("keys turned from 0", drop_key_positions),
        edited("values turned", turn_values), edited("by the model width", take_model_width)}},
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
      {"dropout",
       "Dropout takes the oracle's cells away, which the seed and the cell's place choose, and "
       "divides the others by 1 - p; log-sum-exp, entropy and column sums stay.",
       rounding_of_random_problems(),
       dropout_error,
       {edited("cells of another seed", drop_other_weights),
        {"kept weights unscaled", keep_weights_unscaled}}},
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
      {"cache",
       "Tokens appended to a key/value cache in steps of any size, kept in float32 or bfloat16, "
       "give the rows of the full pass over the numbers that it holds.",
       rounding(16, 170),
       cache_error,
       {{"positions off by one", shift_cached_queries}}},
      {"cache-forks",
       "Sequences of a cache that share their first tokens, and others of any length, give in one "
       "batch what each gives as plain arrays.",
       rounding(16, 170),
       fork_error,
       {{"next sequence read", read_the_next_sequence}}},
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
      {"gradients",
       "The gradients of queries, keys, values, biases, tables, slopes and sinks are the central "
       "differences of the oracle, with every option that has a gradient at once.",
       rounding_of_scores(50, 20, 140),
       gradient_error,
       {faulty_oracle("scale missing", BackwardFault::scale_missing),
        faulty_oracle("delta missing", BackwardFault::delta_missing),
        faulty_oracle("cap's slope missing", BackwardFault::cap_slope_missing),
        faulty_oracle("bias not summed", BackwardFault::bias_not_summed),
        faulty_oracle("key heads not summed", BackwardFault::key_heads_not_summed),
        faulty_oracle("sink missing", BackwardFault::sink_missing),
        faulty_oracle("half of q's", BackwardFault::q_halved),
        faulty_oracle("half of k's", BackwardFault::k_halved),
        faulty_oracle("half of v's", BackwardFault::v_halved),
        faulty_oracle("half of the bias's", BackwardFault::bias_halved),
        faulty_oracle("half of the slopes'", BackwardFault::slopes_halved),
        faulty_oracle("half of the table's", BackwardFault::bias_table_halved),
        faulty_oracle("half of the buckets'", BackwardFault::bucket_table_halved),
        faulty_oracle("half of the sinks'", BackwardFault::sinks_halved)}},
      {"grad-agreement",
       "On random problems with any options together, every element of every gradient is the "
       "oracle's, relative to the magnitudes of its terms.",
       rounding_of_random_problems(),
       gradient_agreement_error,
       {faulty_oracle("delta missing", BackwardFault::delta_missing)}},
      {"grad-dropout",
       "The same with dropout: back and forward drop the same cells.",
       rounding_of_random_problems(),
       dropout_gradient_error,
       {faulty_oracle("kept weights unscaled", BackwardFault::dropout_unscaled)}},
      {"grad-half",
       "The same for bfloat16 and float16 arrays, within the steps of the type.",
       rounding(32, 140, DType::bfloat16),
       half_gradient_error,
       {faulty_oracle("scale missing", BackwardFault::scale_missing)}},
      {"grad-unseen",
       "A query that sees no key and a key that no query sees have gradients of exactly 0, also "
       "where that key holds infinities, which reach no other gradient.",
       0,
       unseen_gradient_error,
       {edited("mask by a number, -1e9", exclude_by_bias)}},
      {"grad-threads",
       "1 to 8 threads give the same bits of every gradient.",
       0,
       gradient_thread_error,
       {{"parts added by threads", add_gradients_by_threads}}},
      {"grad-neighbours",
       "The gradients of a row's queries, keys and values have the same bits alone and in any "
       "batch.",
       0,
       gradient_neighbour_error,
       {edited("longest length for all", take_longest_length)}},
  };
  return kCatalog;
}

}  // namespace volvelle::properties
