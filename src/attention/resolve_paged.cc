#include <algorithm>
#include <string>

#include "attention/exclusion.h"
#include "attention/oracle_terms.h"
#include "attention/paged_rows.h"
#include "attention/resolve_layout.h"
#include "kernels/attention_forward.h"

namespace volvelle {
namespace {

// What stands for the elements of k and v while the problem is checked: they are never read.
constexpr std::uint64_t kStandIn = 0;

// A view of the shape that the cache's keys or values have in this problem.
View stand_in(const View& q, std::int64_t heads, std::int64_t tokens, std::int64_t width) {
  const Shape full{q.rank() == 4 ? q.shape()[0] : 1, heads, tokens, width};
  Shape shape;
  for (int axis = 4 - q.rank(); axis < 4; ++axis) shape.push_back(full[axis]);
  return View(&kStandIn, q.dtype(), shape, Axes::filled(shape.rank(), 0));
}

void check_against_cache(const AttentionProblem& problem, const KeyValueCacheOptions& cache,
                         std::size_t sequences) {
  const View& q = problem.q;
  if (problem.k || problem.v) {
    refuse(std::string(problem.k ? "k" : "v") +
           " is given, but keys and values are the cache's; leave k and v out");
  }
  if (problem.key_lengths) {
    refuse("key_lengths are given, but the lengths are the cache's; leave them out");
  }
  if (!q) refuse("q is missing");
  if (q.rank() < 2 || q.rank() > 4) {
    refuse(described("q", q) + " must have rank 2 (T,D), 3 (H,T,D) or 4 (B,H,T,D)");
  }
  if (q.dtype() != DType::float32 && q.dtype() != cache.dtype) {
    refuse("q is " + std::string(name_of(q.dtype())) + " and the cache " +
           std::string(name_of(cache.dtype)) + "; q must be float32 or as the cache");
  }
  const std::int64_t batch = q.rank() == 4 ? q.shape()[0] : 1;
  if (batch != static_cast<std::int64_t>(sequences)) {
    refuse(described("q", q) + " has B=" + std::to_string(batch) + ", but " +
           std::to_string(sequences) + " sequences are given; one per batch row is needed");
  }
  if (q.rank() == 2 && cache.key_heads != 1) {
    refuse(described("q", q) + " has one head, the cache " + std::to_string(cache.key_heads) +
           " key heads; give q with its heads (H,T,D)");
  }
  if (q.shape()[q.rank() - 1] != cache.head_width) {
    refuse(described("q", q) + " has D=" + std::to_string(q.shape()[q.rank() - 1]) +
           ", the cache a head_width of " + std::to_string(cache.head_width));
  }
}

// A query sees one of tokens [from, to) of those that were given back.
bool sees_one(const ResolvedAttention& r, std::int64_t b, std::int64_t query, std::int64_t from,
              std::int64_t to) {
  if (from >= to) return false;
  if (!r.keep.present && !r.query_segments.present) return true;
  const std::int64_t heads = r.keep.present && r.keep.stride[1] != 0 ? r.heads : 1;
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t j = from; j < to; ++j) {
      if (sees(r, {b, h, query, j}, AttentionFault::none)) return true;
    }
  }
  return false;
}

void check_kept(const ResolvedAttention& r, std::int64_t window) {
  PanelExclusion panel;
  for (std::int64_t b = 0; b < r.batch; ++b) {
    const std::int64_t kept = r.paged->rows[static_cast<std::size_t>(b)]->first_kept();
    for (std::int64_t query = 0; kept > 0 && query < r.queries; query += kernels::kMaxPanel) {
      const int count =
          static_cast<int>(std::min<std::int64_t>(kernels::kMaxPanel, r.queries - query));
      exclude_by_index(r, b, query, count, panel);
      for (int x = 0; x < count; ++x) {
        const std::int64_t past = std::min(panel.last[x], kept);
        if (!sees_one(r, b, query + x, panel.first[x], past)) continue;
        refuse("query " + std::to_string(query + x) + " of batch row " + std::to_string(b) +
               ", at position " + std::to_string(r.offset(b) + query + x) +
               ", may see tokens from " + std::to_string(panel.first[x]) +
               " on, but those before " + std::to_string(kept) +
               " were given back by the cache's window of " + std::to_string(window) +
               "; set causal and a window of at most that, or make a cache with a larger one");
      }
    }
  }
}

}  // namespace

ResolvedAttention resolve(const AttentionProblem& problem, const KeyValueCache& cache,
                          std::span<const Sequence> sequences, PagedRows& rows) {
  const KeyValueCacheOptions& options = cache.options();
  rows.pages = &cache.pages();
  for (const Sequence sequence : sequences) {
    rows.rows.push_back(&rows.pages->tokens(sequence, "attend"));
    rows.lengths.push_back(rows.rows.back()->length);
  }
  check_against_cache(problem, options, sequences.size());
  const std::int64_t longest =
      rows.lengths.empty() ? 0 : *std::max_element(rows.lengths.begin(), rows.lengths.end());
  const Shape batch{static_cast<std::int64_t>(sequences.size())};
  for (const std::int64_t length : rows.lengths) {
    rows.offsets.push_back(length - problem.q.shape()[problem.q.rank() - 2]);
  }
  AttentionProblem whole = problem;
  whole.k = stand_in(problem.q, options.key_heads, longest, options.head_width);
  whole.v = stand_in(problem.q, options.key_heads, longest, options.value_width);
  whole.key_lengths = View(rows.lengths.data(), batch);
  if (!problem.query_offset && problem.alignment == Alignment::bottom_right) {
    whole.query_offset = View(rows.offsets.data(), batch);
  }
  if (problem.padding != Padding::right) refuse("padding is set without key_lengths (B)");
  ResolvedAttention resolved = resolve(whole);
  resolved.k = resolved.v = {};
  resolved.paged = &rows;
  check_kept(resolved, options.window);
  return resolved;
}

}  // namespace volvelle
