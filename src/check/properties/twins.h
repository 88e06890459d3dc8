#pragma once

#include "attention/oracle.h"
#include "attention/oracle_backward.h"
#include "check/properties/property.h"
#include "check/properties/setting.h"

namespace volvelle::properties {

/// A twin that computes another problem than it was given.
using Edit = void (*)(Setting& setting);
Control edited(const char* name, Edit edit);

/// The oracle with one of its faults, forward or back; the other direction stays sound.
Control faulty_oracle(const char* name, AttentionFault fault);
Control faulty_oracle(const char* name, BackwardFault fault);

// Edits, each the fault that its name says.
void forget_scale(Setting& setting);
void shift_positions_by_one(Setting& setting);  ///< every query one key further
void align_top_left(Setting& setting);
void lengthen_by_one(Setting& setting);      ///< key_lengths
void take_longest_length(Setting& setting);  ///< for every row of the batch
void widen_windows(Setting& setting);
void lengthen_prefix(Setting& setting);
void drop_chunks(Setting& setting);
void drop_segments(Setting& setting);
void drop_query_positions(Setting& setting);
void drop_key_positions(Setting& setting);
void drop_bias(Setting& setting);
void drop_cap(Setting& setting);
void drop_sinks(Setting& setting);
void drop_other_weights(Setting& setting);  ///< by another seed
void tile_key_heads(Setting& setting);      ///< head h reads key head h mod G
void ignore_strides(Setting& setting);      ///< q, k and v read as if they were contiguous
void swap_pairing(Setting& setting);
void turn_values(Setting& setting);       ///< as keys are
void take_model_width(Setting& setting);  ///< for the frequencies of `turning_error`
void exclude_by_bias(Setting& setting);   ///< -1e9 on excluded pairs, instead of the exclusion

/// Exclusion as a large negative number, added to the scores: -1e9.
AttentionOperation mask_by_a_number(const AttentionOperation& sound);

/// The keys cut into as many parts as there are threads, and the parts merged.
AttentionOperation split_keys_by_threads(const AttentionOperation& sound);

/// The weights that dropout keeps left as they are.
AttentionOperation keep_weights_unscaled(const AttentionOperation& sound);

/// Gradients of as many parts of the queries as there are threads, added up.
AttentionOperation add_gradients_by_threads(const AttentionOperation& sound);

/// Cached queries one token further back than they stand.
AttentionOperation shift_cached_queries(const AttentionOperation& sound);

/// Each row of a batch reading the sequence of the next one.
AttentionOperation read_the_next_sequence(const AttentionOperation& sound);

/// exp(score) over its sum in float32, the row's maximum not taken off.
AttentionOperation keep_the_maximum(const AttentionOperation& sound);

/// q, k and v taken to float32 first, the results back to their own dtype.
AttentionOperation compute_in_float32(const AttentionOperation& sound);

/// q . k rounded to float16 before it is scaled.
AttentionOperation hold_scores_in_16_bits(const AttentionOperation& sound);

}  // namespace volvelle::properties
