#include "attention/turned_inputs.h"

#include <algorithm>

#include "attention/row_turns.h"
#include "base/aligned_memory.h"
#include "base/kept_by_thread.h"
#include "base/thread_pool.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

// Tokens of one task: their rows of all heads stay in cache while they are read and written.
constexpr std::int64_t kTokens = 32;

struct TurnedWorkspaces {
  Workspace q, k;
};

// All rows of one kind and where they go, cut into tasks.
struct TurnedArray {
  TurnedArray(const ResolvedAttention& problem, TurnedRows which, const Strided4& given,
              std::int64_t its_heads, std::int64_t its_tokens, Workspace& workspace)
      : turns(problem, which),
        from(given),
        heads(its_heads),
        tokens(its_tokens),
        width(problem.width),
        blocks((tokens + kTokens - 1) / kTokens),
        tasks(problem.batch * blocks) {
    const auto count = static_cast<std::size_t>(problem.batch * heads * tokens * width);
    to = {workspace.at_least(count * size_of(from.dtype)),
          from.dtype,
          {heads * tokens * width, tokens * width, width, 1},
          true};
  }

  void run(std::int64_t task) const {
    const std::int64_t b = task / blocks;
    const std::int64_t first = task % blocks * kTokens;
    const std::int64_t count = std::min(kTokens, tokens - first);
    Strided4 source = from;
    if (from.stride[3] != 1 && width > 1) {
      gather(b, first, count);
      source = to;
    }
    RowPlaces places;
    places.dtype = from.dtype;
    places.from = at(source, b, first);
    places.from_token = source.stride[2];
    places.from_head = source.stride[1];
    places.to = const_cast<void*>(at(to, b, first));
    places.to_token = to.stride[2];
    places.to_head = to.stride[1];
    places.heads = heads;
    turns.run(b, first, count, TurnDirection::forward, places);
  }

  RowTurns turns;
  Strided4 from, to;
  std::int64_t heads, tokens, width, blocks, tasks;

 private:
  static const void* at(const Strided4& array, std::int64_t b, std::int64_t token) {
    return static_cast<const char*>(array.data) +
           array.offset(b, 0, token, 0) * static_cast<std::int64_t>(size_of(array.dtype));
  }

  // Rows whose elements do not lie side by side, copied as they are to where they turn in place.
  void gather(std::int64_t b, std::int64_t first, std::int64_t count) const {
    visit_dtype(from.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t i = first; i < first + count; ++i) {
          const T* row = static_cast<const T*>(from.data) + from.offset(b, h, i, 0);
          T* place = static_cast<T*>(const_cast<void*>(to.data)) + to.offset(b, h, i, 0);
          for (std::int64_t d = 0; d < width; ++d) place[d] = row[d * from.stride[3]];
        }
      }
    });
  }
};

}  // namespace

TurnedInputs::TurnedInputs(const ResolvedAttention& given, KeyTurns keys, int threads)
    : turned_(given) {
  const bool turns_queries = given.rotary.query.present;
  const bool turns_keys =
      given.rotary.key.present && given.paged == nullptr && keys == KeyTurns::before;
  if (!turns_queries && !turns_keys) return;
  TurnedWorkspaces& workspaces = kept_by_thread<TurnedWorkspaces>();
  const TurnedArray q(given, TurnedRows::queries, given.q, turns_queries ? given.heads : 0,
                      turns_queries ? given.queries : 0, workspaces.q);
  const TurnedArray k(given, TurnedRows::keys, given.k, turns_keys ? given.key_heads : 0,
                      turns_keys ? given.keys : 0, workspaces.k);
  parallel_for(q.tasks + k.tasks, threads, [&](std::int64_t task) {
    if (task < q.tasks) {
      q.run(task);
    } else {
      k.run(task - q.tasks);
    }
  });
  if (turns_queries) {
    turned_.q = q.to;
    turned_.rotary.query = {};
  }
  if (turns_keys) {
    turned_.k = k.to;
    turned_.rotary.key = {};
  }
}

}  // namespace volvelle
