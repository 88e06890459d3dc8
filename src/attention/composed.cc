#include "attention/composed.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "attention/carver.h"
#include "attention/composed_operations.h"
#include "attention/composed_rows.h"
#include "attention/composed_vectors.h"
#include "base/aligned_memory.h"
#include "base/kept_by_thread.h"
#include "base/thread_pool.h"
#include "tensor/convert.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

// One head's arrays in one workspace. `inputs` holds q and k for the scores, then v.
template <class Real>
struct HeadMemory {
  static constexpr std::size_t kLine = 64;

  Real *matrix, *inputs, *output, *maxima, *lse, *entropy, *columns;
  bool* excluded;

  // Bytes for all of it; false when they do not fit 63 bits.
  static bool bytes(const ResolvedAttention& r, std::size_t& total) {
    std::int64_t pairs = 0;
    std::int64_t sum = 0;
    if (__builtin_mul_overflow(r.queries, r.keys, &pairs) ||
        __builtin_mul_overflow(pairs, static_cast<std::int64_t>(sizeof(Real) + 1), &sum)) {
      return false;
    }
    for (const std::int64_t count : counts(r)) {  // checked products: resolve() saw to their size
      if (__builtin_add_overflow(sum, count * static_cast<std::int64_t>(sizeof(Real)), &sum)) {
        return false;
      }
    }
    total = static_cast<std::size_t>(sum) + 8 * kLine;
    return true;
  }

  HeadMemory(const ResolvedAttention& r, void* memory) {
    Carver carver(memory);
    const auto count = counts(r);
    matrix = carver.take<Real>(r.queries * r.keys);
    Real** const arrays[] = {&inputs, &output, &maxima, &lse, &entropy, &columns};
    for (std::size_t n = 0; n < count.size(); ++n) *arrays[n] = carver.take<Real>(count[n]);
    excluded = carver.take<bool>(r.queries * r.keys);
  }

 private:
  static std::array<std::int64_t, 6> counts(const ResolvedAttention& r) {
    return {std::max(composed_score_inputs(r), composed_value_inputs(r)),
            r.queries * r.value_width,
            r.queries,
            r.queries,
            r.queries,
            r.keys};
  }
};

template <class Real>
void attend_head(const ResolvedAttention& r, const ResolvedOutputs& outputs, std::int64_t b,
                 std::int64_t h, void* memory) {
  const HeadMemory<Real> own(r, memory);
  const ComposedHead<Real> head(r, b, h);
  head.scores(own.inputs, own.matrix);
  head.scale(own.matrix);
  head.cap(own.matrix);
  head.add_biases(own.matrix);
  head.exclude(own.excluded);
  head.exponentials(own.matrix, own.excluded, own.maxima);
  head.normalise(own.matrix, own.excluded, own.maxima, own.lse);
  scatter_rows(outputs.lse, b, h, r.queries, 1, own.lse);
  if (outputs.entropy.present) {
    head.entropy(own.matrix, own.lse, own.maxima, own.entropy);
    scatter_rows(outputs.entropy, b, h, r.queries, 1, own.entropy);
  }
  if (outputs.column_sums.present) {
    head.column_sums(own.matrix, own.columns);
    scatter_rows(outputs.column_sums, b, h, r.keys, 1, own.columns);
  }
  if (outputs.output.present) {
    head.drop(own.matrix);
    head.weigh(own.matrix, own.excluded, own.maxima, own.inputs, own.output);
    scatter_rows(outputs.output, b, h, r.queries, r.value_width, own.output);
  }
}

template <class Real>
void attend_heads(const ResolvedAttention& r, const ResolvedOutputs& outputs, int threads,
                  std::size_t limit_bytes) {
  std::size_t bytes = 0;
  const bool fits = HeadMemory<Real>::bytes(r, bytes);
  if (!fits || bytes > limit_bytes) {
    throw InvalidArgument(
        "[attend] the composed path keeps one head's T x S = " + std::to_string(r.queries) + " x " +
        std::to_string(r.keys) + " scores" +
        (r.has_relative_vectors() ? " and the relative vectors they reach: " : ": ") +
        (fits ? std::to_string(bytes) + " bytes" : std::string("more than 63 bits of bytes")) +
        ", above its limit of " + std::to_string(limit_bytes) +
        "; the fused path keeps no such matrix");
  }
  // As many heads at once as the limit leaves room for.
  const std::size_t at_once = std::min<std::size_t>(limit_bytes / bytes, 1024);
  parallel_for(
      r.batch * r.heads, std::min(threads, static_cast<int>(at_once)), [&](std::int64_t task) {
        Workspace& workspace = kept_by_thread<Workspace>();
        attend_head<Real>(r, outputs, task / r.heads, task % r.heads, workspace.at_least(bytes));
      });
}

}  // namespace

void attend_composed(const ResolvedAttention& problem, const ResolvedOutputs& outputs, int threads,
                     std::size_t limit_bytes) {
  if (problem.dtype == DType::float64) {
    attend_heads<double>(problem, outputs, threads, limit_bytes);
  } else {
    attend_heads<float>(problem, outputs, threads, limit_bytes);
  }
}

}  // namespace volvelle
