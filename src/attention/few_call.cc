#include "attention/few_call.h"

#include <algorithm>

#include "attention/few_queries.h"

namespace volvelle {
namespace {

// Bytes of keys, at four each element, that a step reads before it turns to their values: little
// enough that both stay in the first-level cache, where they were asked for in time.
constexpr std::int64_t kStepBytes = 16384;
// Of a slab's queries and outputs, which should stay in the second-level cache.
constexpr std::int64_t kSlabElements = std::int64_t{1} << 17;

std::int64_t rounded_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

std::int64_t keys_of_a_step(std::int64_t width) {
  std::int64_t keys = kernels::kTileKeys;
  while (keys > 16 && keys * width * 4 > kStepBytes) keys /= 2;
  return keys;
}

}  // namespace

FewCall::FewCall(const ResolvedAttention& resolved, int threads, FewWorkspaces& workspaces)
    : problem(resolved),
      kernels(kernels::decode_kernels()),
      map(resolved, kFewQueries, threads, workspaces.map),
      offset_bias(resolved, kernels.per_nat, 0, workspaces.bias),
      relative_keys(resolved, workspaces.relative),
      tiles(resolved),
      source(tiles.source()),
      group(resolved.heads / resolved.key_heads),
      block(keys_of_a_step(resolved.width)) {
  if (source.has_stored_rows()) {
    const DType dtype = source.stored_dtype();
    if (dtype == DType::bfloat16) stored = kernels::Stored::bfloat16;
    if (dtype == DType::float16) stored = kernels::Stored::float16;
  }
  const std::int64_t head_size = problem.queries * (problem.width + problem.value_width);
  heads = std::min(kernels::kMostDecodeRows / problem.queries, kSlabElements / head_size);
  heads = std::clamp<std::int64_t>(heads, 1, group);
  slabs = (group + heads - 1) / heads;
  runs_on = threads == 1 && slabs == 1;
  rows = heads * problem.queries;
  query_stride = rounded_up(problem.width, kernels.lanes);
  out_stride = rounded_up(problem.value_width, kernels.lanes);
  part_size = rounded_up(rows * (out_stride + 3), 16);

  cuts = static_cast<Cut*>(
      workspaces.cuts.at_least(static_cast<std::size_t>(problem.batch) * sizeof(Cut)));
  PanelExclusion exclusion;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    exclude_by_index(problem, b, 0, static_cast<int>(problem.queries), exclusion);
    const std::int64_t first = exclusion.any_first / kPartKeys;
    const std::int64_t past = exclusion.any_first == exclusion.any_last
                                  ? first
                                  : (exclusion.any_last - 1) / kPartKeys + 1;
    cuts[b] = {first, past - first, tasks};
    tasks += (past - first) * problem.key_heads * slabs;
  }
  parts = static_cast<float*>(
      workspaces.parts.at_least(static_cast<std::size_t>(tasks * part_size) * sizeof(float)));
}

FewCall::Place FewCall::place(std::int64_t task) const {
  const Cut* cut = std::upper_bound(cuts, cuts + problem.batch, task,
                                    [](std::int64_t wanted, const Cut& own) {
                                      return wanted < own.first_task;
                                    }) -
                   1;
  const std::int64_t own = task - cut->first_task;
  const std::int64_t slab = own % slabs;
  const std::int64_t part = own / slabs % cut->parts;
  Place place;
  place.b = cut - cuts;
  place.key_head = own / slabs / cut->parts;
  place.first_head = place.key_head * group + slab * heads;
  place.heads = static_cast<int>(std::min(heads, group - slab * heads));
  place.first_key = (cut->first_part + part) * kPartKeys;
  place.last_key = std::min(place.first_key + kPartKeys, problem.keys);
  place.part = parts_of(place.b, place.first_head) + part * part_size;
  return place;
}

float* FewCall::parts_of(std::int64_t b, std::int64_t h) const {
  const Cut& cut = cuts[b];
  if (cut.parts == 0) return nullptr;
  const std::int64_t slab = h / group * slabs + h % group / heads;
  return parts + (cut.first_task + slab * cut.parts) * part_size;
}

}  // namespace volvelle
