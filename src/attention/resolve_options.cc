#include "attention/resolve_options.h"

#include "attention/resolve_layout.h"
#include "attention/resolve_values.h"

namespace volvelle {
namespace {

constexpr std::int64_t kDefaultMaxDistance = AttentionProblem{}.max_distance;

void lay_out_bucket_table(const AttentionProblem& problem, ResolvedAttention& r) {
  r.buckets = problem.buckets;
  r.max_distance = problem.max_distance;
  if (!problem.bucket_table) {
    if (r.buckets != Buckets::none) refuse("buckets are set without a bucket_table (H, buckets)");
    if (r.max_distance != kDefaultMaxDistance) {
      refuse("max_distance " + std::to_string(r.max_distance) +
             " is set without a bucket_table (H, buckets)");
    }
    return;
  }
  const NamedView array{"bucket_table", problem.bucket_table};
  if (r.buckets == Buckets::none) {
    refuse(described(array.name, array.view) + " needs buckets: one_way or two_way");
  }
  check_floating(array);
  r.bucket_table = table_of(array, r.heads);
  const std::int64_t count = r.bucket_table.shape[1];
  const bool two_way = r.buckets == Buckets::two_way;
  if (two_way ? count < 4 || count % 2 != 0 : count < 2) {
    refuse(described(array.name, array.view) + " has " + std::to_string(count) + " buckets; " +
           (two_way ? "two-way needs an even count of at least 4" : "one-way needs at least 2"));
  }
  const std::int64_t exact = (two_way ? count / 2 : count) / 2;
  if (r.max_distance <= exact) {
    refuse("max_distance " + std::to_string(r.max_distance) + " must exceed the " +
           std::to_string(exact) + " distances that have a bucket each (" +
           described(array.name, array.view) + ")");
  }
}

void lay_out_offset(const AttentionProblem& problem, ResolvedAttention& r) {
  const NamedView array{"query_offset", problem.query_offset};
  if (problem.alignment != Alignment::bottom_right) {
    refuse("alignment top_left and query_offset contradict each other; give one of them");
  }
  check_integer(array);
  const bool shared = array.view.rank() == 1 && array.view.shape()[0] == 1;
  r.query_offset = one_per(array, 'B', shared ? 1 : r.batch);
  r.query_offset.shape[0] = r.batch;  // a single one has stride 0 and serves every row
}

void lay_out_segments(const AttentionProblem& problem, ResolvedAttention& r) {
  if (!problem.query_segments || !problem.key_segments) {
    refuse(std::string(problem.query_segments ? "query_segments" : "key_segments") +
           " is given alone; query_segments (B,T) and key_segments (B,S) go together");
  }
  check_integer({"query_segments", problem.query_segments});
  check_integer({"key_segments", problem.key_segments});
  r.query_segments = per_row({"query_segments", problem.query_segments}, r.batch, 'T', r.queries);
  r.key_segments = per_row({"key_segments", problem.key_segments}, r.batch, 'S', r.keys);
  check_segments("query_segments", r.query_segments);
  check_segments("key_segments", r.key_segments);
}

}  // namespace

void lay_out_biases(const AttentionProblem& problem, ResolvedAttention& r) {
  if (problem.bias) {
    const std::int64_t full[4] = {r.batch, r.heads, r.queries, r.keys};
    if (!is_floating(problem.bias.dtype())) {
      refuse(described("bias", problem.bias) + " is " + std::string(name_of(problem.bias.dtype())) +
             "; it must be floating: a mask of booleans or 0 and 1 goes into `keep`");
    }
    r.bias = broadcast_to({"bias", problem.bias}, full);
  }
  if (problem.slopes) {
    check_floating({"slopes", problem.slopes});
    r.slopes = one_per({"slopes", problem.slopes}, 'H', r.heads);
  }
  if (problem.sinks) {
    check_floating({"sinks", problem.sinks});
    r.sinks = one_per({"sinks", problem.sinks}, 'H', r.heads);
    check_sinks(r.sinks);
  }
  if (problem.bias_table) {
    const NamedView array{"bias_table", problem.bias_table};
    check_floating(array);
    r.bias_table = table_of(array, r.heads);
    if (r.bias_table.shape[1] % 2 != 1) {
      refuse(described(array.name, array.view) + " must have an odd width 2M+1: offsets -M to M");
    }
  }
  lay_out_bucket_table(problem, r);
  if (problem.query_positions) {
    check_integer({"query_positions", problem.query_positions});
    r.query_positions =
        per_row({"query_positions", problem.query_positions}, r.batch, 'T', r.queries);
    check_positions("query_positions", r.query_positions);
  }
  if (problem.key_positions) {
    check_integer({"key_positions", problem.key_positions});
    r.key_positions = per_row({"key_positions", problem.key_positions}, r.batch, 'S', r.keys);
    check_positions("key_positions", r.key_positions);
  }
}

void lay_out_exclusion(const AttentionProblem& problem, ResolvedAttention& r) {
  if (problem.query_offset) lay_out_offset(problem, r);
  r.padding = problem.padding;
  if (problem.key_lengths) {
    check_integer({"key_lengths", problem.key_lengths});
    r.key_lengths = one_per({"key_lengths", problem.key_lengths}, 'B', r.batch);
    check_key_lengths(r);
  } else if (problem.padding != Padding::right) {
    refuse("padding is set without key_lengths (B)");
  }
  if (problem.query_segments || problem.key_segments) lay_out_segments(problem, r);
  if (problem.keep) {
    const std::int64_t full[4] = {r.batch, r.heads, r.queries, r.keys};
    r.keep = broadcast_to({"keep", problem.keep}, full);
    check_keep({"keep", problem.keep});
  }
}

}  // namespace volvelle
