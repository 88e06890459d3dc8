#include "attention/turned_inputs.h"

#include <algorithm>

#include "attention/composed_rows.h"
#include "base/aligned_memory.h"
#include "base/kept_by_thread.h"
#include "base/thread_pool.h"

namespace volvelle {
namespace {

// Tokens of one task.
constexpr std::int64_t kTokens = 64;

struct TurnedWorkspaces {
  Workspace q, k;
};

// Every row of one kind from `from` to `to`, which may be the same.
template <class Real>
void turn_all(const ResolvedAttention& r, TurnedRows which, TurnDirection direction,
              const Strided4& from, const Strided4& to, int threads) {
  const bool queries = which == TurnedRows::queries;
  const std::int64_t heads = queries ? r.heads : r.key_heads;
  const std::int64_t tokens = queries ? r.queries : r.keys;
  const std::int64_t blocks = (tokens + kTokens - 1) / kTokens;
  parallel_for(r.batch * blocks, threads, [&](std::int64_t task) {
    const std::int64_t b = task / blocks;
    const std::int64_t first = task % blocks * kTokens;
    const std::int64_t count = std::min(kTokens, tokens - first);
    Real* rows = static_cast<Real*>(kept_by_thread<Workspace>().at_least(
        static_cast<std::size_t>(count * r.width) * sizeof(Real)));
    const auto at = [&](Strided4 array) {
      array.data = static_cast<const char*>(array.data) +
                   array.offset(0, 0, first, 0) * static_cast<std::int64_t>(size_of(array.dtype));
      return array;
    };
    for (std::int64_t h = 0; h < heads; ++h) {
      gather_rows(at(from), b, h, count, r.width, rows);
      turn_rows(r, {which, b, first, count}, direction, rows);
      scatter_rows(at(to), b, h, count, r.width, rows);
    }
  });
}

void turn_as(const ResolvedAttention& r, TurnedRows which, TurnDirection direction,
             const Strided4& from, const Strided4& to, int threads) {
  if (r.dtype == DType::float64) {
    turn_all<double>(r, which, direction, from, to, threads);
  } else {
    turn_all<float>(r, which, direction, from, to, threads);
  }
}

Strided4 room_for(Workspace& workspace, const ResolvedAttention& r, std::int64_t heads,
                  std::int64_t tokens) {
  const auto count = static_cast<std::size_t>(r.batch * heads * tokens * r.width);
  return {workspace.at_least(count * size_of(r.dtype)),
          r.dtype,
          {heads * tokens * r.width, tokens * r.width, r.width, 1},
          true};
}

}  // namespace

TurnedInputs::TurnedInputs(const ResolvedAttention& given, int threads)
    : given_(given), turned_(given) {
  TurnedWorkspaces& workspaces = kept_by_thread<TurnedWorkspaces>();
  if (given.rotary.query.present) {
    turned_.q = room_for(workspaces.q, given, given.heads, given.queries);
    turn_as(given, TurnedRows::queries, TurnDirection::forward, given.q, turned_.q, threads);
    turned_.rotary.query = {};
  }
  if (given.rotary.key.present && given.paged == nullptr) {
    turned_.k = room_for(workspaces.k, given, given.key_heads, given.keys);
    turn_as(given, TurnedRows::keys, TurnDirection::forward, given.k, turned_.k, threads);
    turned_.rotary.key = {};
  }
}

void TurnedInputs::turn_back(const Strided4& gradient, TurnedRows which, int threads) const {
  const ResolvedRotary& rotary = given_.rotary;
  const bool turned = which == TurnedRows::queries ? rotary.query.present : rotary.key.present;
  if (!gradient.present || !turned) return;
  turn_as(given_, which, TurnDirection::back, gradient, gradient, threads);
}

}  // namespace volvelle
