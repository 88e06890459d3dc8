#include "support/cached.h"

#include <algorithm>
#include <stdexcept>

#include "support/arrays.h"
#include "support/slices.h"

namespace volvelle::testing {
namespace {

// Batch row b as (G,n,D), its tokens [first, first + count).
View tokens_of(const View& view, std::int64_t b, std::int64_t first, std::int64_t count) {
  const int rank = view.rank();
  View part = slice(view, rank - 2, first, count);
  if (rank < 4) return part;
  part = slice(part, 0, b, 1);
  const Shape& s = part.shape();
  const Strides& t = part.strides();
  return View(part.data(), part.dtype(), {s[1], s[2], s[3]}, {t[1], t[2], t[3]});
}

}  // namespace

Cached cached(const AttentionProblem& problem, const std::vector<std::int64_t>& lengths,
              DType stored, bool pieces) {
  const View& k = problem.k;
  const int rank = k.rank();
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  if (longest != k.shape()[rank - 2]) throw std::logic_error("no row has all the keys");
  KeyValueCacheOptions options;
  options.key_heads = rank == 2 ? 1 : k.shape()[rank - 3];
  options.head_width = k.shape()[rank - 1];
  options.value_width = problem.v.shape()[rank - 1];
  options.dtype = stored;
  options.capacity = static_cast<std::int64_t>(lengths.size()) * (longest + 128);
  Cached made{KeyValueCache(options), {}, problem, problem, {}};
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const Sequence sequence = made.cache.add();
    made.sequences.push_back(sequence);
    std::int64_t piece = pieces ? 1 : lengths[b];
    for (std::int64_t done = 0; done < lengths[b]; done += piece++) {
      piece = std::min(piece, lengths[b] - done);
      const auto row = static_cast<std::int64_t>(b);
      made.cache.append(sequence, tokens_of(problem.k, row, done, piece),
                        tokens_of(problem.v, row, done, piece));
    }
  }
  made.problem.k = made.problem.v = made.problem.key_lengths = {};
  made.problem.padding = Padding::right;
  std::size_t next = 0;
  const Shape batch{static_cast<std::int64_t>(lengths.size())};
  made.memory.push_back(
      filled(DType::int64, batch, [&] { return static_cast<double>(lengths[next++]); }));
  made.plain.key_lengths = made.memory.back().view();
  made.plain.padding = Padding::right;
  if (!problem.query_offset && problem.alignment == Alignment::bottom_right) {
    const std::int64_t queries = problem.q.shape()[problem.q.rank() - 2];
    next = 0;
    made.memory.push_back(filled(DType::int64, batch,
                                 [&] { return static_cast<double>(lengths[next++] - queries); }));
    made.plain.query_offset = made.memory.back().view();
  }
  return made;
}

Answer cached_answer(const Cached& cached, const Route& route, int threads) {
  const AttentionOptions options{.path = route.path, .threads = threads};
  const SimdScope scope(route.simd.empty() ? "best" : route.simd);
  const AttentionPlan plan = explain(cached.problem, cached.cache, cached.sequences, options);
  if (plan.path != route.path || (!route.simd.empty() && plan.simd != route.simd)) {
    throw std::logic_error(route.name + " was forced but does not run: " + plan.reason);
  }
  const AttentionResult result =
      attend(cached.problem, cached.cache, cached.sequences,
             {.lse = true, .entropy = true, .column_sums = true}, options);
  return {result.output, result.lse, result.entropy, result.column_sums,
          rounds_weights(cached.problem.q.dtype(), route)};
}

}  // namespace volvelle::testing
