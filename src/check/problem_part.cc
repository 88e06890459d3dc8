#include "check/problem_part.h"

namespace volvelle {

AttentionProblem problem_part(const AttentionProblem& whole, const ResolvedAttention& resolved,
                              const Span& batch, const Span& heads) {
  const std::int64_t first = resolved.key_head(heads.first);
  const std::int64_t last = resolved.key_head(heads.first + heads.count - 1);
  const Span key_heads{first, last - first + 1};
  const Span queries{0, resolved.queries}, keys{0, resolved.keys};
  AttentionProblem part = whole;
  part.q = part_of(whole.q, batch, heads, queries);
  part.k = part_of(whole.k, batch, key_heads, keys);
  part.v = part_of(whole.v, batch, key_heads, keys);
  part.scale = resolved.scale;
  part.bias = part_of(whole.bias, batch, heads, queries);
  part.keep = part_of(whole.keep, batch, heads, queries);
  part.slopes = cut(whole.slopes, 0, heads);
  part.sinks = cut(whole.sinks, 0, heads);
  part.bias_table = cut(whole.bias_table, 0, heads);
  part.bucket_table = cut(whole.bucket_table, 0, heads);
  for (View* vectors : {&part.relative_keys, &part.relative_queries, &part.relative_values}) {
    if (vectors->rank() == 3) *vectors = cut(*vectors, 0, heads);  // rank 2 serves every head
  }
  for (View* rows : {&part.query_offset, &part.key_lengths}) *rows = cut(*rows, 0, batch);
  for (View* tokens :
       {&part.query_positions, &part.key_positions, &part.query_segments, &part.key_segments}) {
    if (tokens->rank() == 2) *tokens = cut(*tokens, 0, batch);  // rank 1 serves every batch row
  }
  RotaryTurn& turn = part.rotary;
  for (View* table : {&turn.cosines, &turn.sines, &turn.key_cosines, &turn.key_sines}) {
    if (table->rank() == 3) *table = cut(*table, 0, batch);
  }
  return part;
}

}  // namespace volvelle
