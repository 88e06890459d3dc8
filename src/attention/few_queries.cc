#include "attention/few_queries.h"

#include <algorithm>
#include <limits>

#include "attention/few_call.h"
#include "attention/few_walk.h"
#include "base/kept_by_thread.h"
#include "base/thread_pool.h"

namespace volvelle {
namespace {

void store(const Strided4& view, std::int64_t b, std::int64_t h, std::int64_t i, float value) {
  if (!view.present) return;
  static_cast<float*>(const_cast<void*>(view.data))[view.offset(b, h, i, 0)] = value;
}

// Puts the parts of one head's rows together and stores what was asked for.
void finish_head(const FewCall& call, const ResolvedOutputs& outputs, std::int64_t b,
                 std::int64_t h, float* lse_rows) {
  const ResolvedAttention& problem = call.problem;
  const Strided4& output = outputs.output;
  const bool direct = output.dtype == DType::float32 && output.stride[3] == 1;
  float* const own = direct ? nullptr
                            : static_cast<float*>(kept_by_thread<Workspace>().at_least(
                                  static_cast<std::size_t>(problem.value_width) * sizeof(float)));
  float* const parts = call.parts_of(b, h);
  kernels::DecodeMerge merge;
  merge.part_stride = call.part_size;
  merge.statistics = outputs.lse.present || outputs.entropy.present || lse_rows != nullptr;
  merge.parts = call.cuts[b].parts;
  merge.value_width = static_cast<int>(problem.value_width);
  merge.sink = problem.sinks.present
                   ? static_cast<float>(problem.sinks.value(h, 0)) * call.kernels.per_nat
                   : -std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < problem.queries; ++i) {
    const std::int64_t row = call.row_of(h, i);
    const std::int64_t place = output.offset(b, h, i, 0);
    if (parts != nullptr) {
      merge.out = parts + row * call.out_stride;
      merge.maximum = parts + call.statistic(0) + row;
      merge.sum = parts + call.statistic(1) + row;
      if (outputs.entropy.present) merge.moment = parts + call.statistic(2) + row;
    }
    merge.row = direct ? static_cast<float*>(const_cast<void*>(output.data)) + place : own;
    call.kernels.merge(merge);
    if (!direct) store_rows(own, 1, problem.value_width, output, place, 0, output.stride[3]);
    store(outputs.lse, b, h, i, merge.lse);
    store(outputs.entropy, b, h, i, merge.entropy);
    if (lse_rows != nullptr) lse_rows[(b * problem.heads + h) * problem.queries + i] = merge.lse;
  }
}

}  // namespace

bool has_few_queries(const ResolvedAttention& problem) {
  const bool few_keys = problem.paged == nullptr && problem.keys <= kFewQueries;
  return problem.dtype != DType::float64 && problem.queries <= kFewQueries &&
         problem.dropout == 0 && !few_keys;
}

void attend_few(const ResolvedAttention& problem, const ResolvedOutputs& outputs, int threads,
                float* lse_rows) {
  if (problem.queries == 0) return;
  const FewCall call(problem, threads, kept_by_thread<FewWorkspaces>());
  parallel_for(call.tasks, threads, [&](std::int64_t task) {
    FewWalk(call, kept_by_thread<Workspace>()).run(task, outputs.entropy.present);
  });
  parallel_for(problem.batch * problem.heads, threads, [&](std::int64_t task) {
    finish_head(call, outputs, task / problem.heads, task % problem.heads, lse_rows);
  });
}

}  // namespace volvelle
