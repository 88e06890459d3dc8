#include "attention/exclusion.h"

#include <algorithm>

namespace volvelle {
namespace {

// Beyond this no limit can be told from none (offsets are held within 2^40), and sums stay safe.
constexpr std::int64_t kFar = std::int64_t{1} << 42;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient - (a % b < 0 ? 1 : 0);
}

}  // namespace

void exclude_by_index(const ResolvedAttention& problem, std::int64_t b, std::int64_t query,
                      int count, PanelExclusion& panel) {
  const std::int64_t keys = problem.keys;
  panel.all_first = panel.any_first = 0;
  panel.all_last = panel.any_last = keys;
  if (!problem.causal && problem.window <= 0 && problem.window_right <= 0 && problem.chunk <= 0 &&
      !problem.key_lengths.present) {
    return;
  }
  std::int64_t lowest = 0;
  std::int64_t highest = keys;
  if (problem.key_lengths.present) {
    const std::int64_t length = problem.key_lengths.integer(b, 0);
    if (problem.padding == Padding::right) {
      highest = length;
    } else {
      lowest = keys - length;
    }
  }
  const std::int64_t position = problem.offset(b) + query;  // of the first query
  // Absent rules are limits that nothing reaches, so that one plain loop serves all.
  const std::int64_t before = problem.window > 0 ? std::min(problem.window, kFar) - 1 : kFar;
  const std::int64_t behind =
      problem.window_right > 0 ? std::min(problem.window_right, kFar) : kFar;
  const std::int64_t causal = problem.causal ? 1 : kFar;
  const std::int64_t prefix = std::min(problem.prefix, keys);
  for (int x = 0; x < count; ++x) {
    const std::int64_t p = position + x;
    const std::int64_t until = std::max(p + causal, prefix);
    panel.first[x] = std::max(lowest, p - before);
    panel.last[x] = std::min(highest, std::min(until, p + behind));
  }
  if (problem.chunk > 0) {
    const std::int64_t chunk = std::min(problem.chunk, kFar);
    for (int x = 0; x < count; ++x) {
      const std::int64_t start = floor_div(position + x, chunk) * chunk;
      panel.first[x] = std::max(panel.first[x], start);
      panel.last[x] = std::min(panel.last[x], start + chunk);
    }
  }
  // Both ends only rise with the query, so the hull is the ends of the first and the last query
  // that see anything.
  int seeing = 0;
  int first_seeing = 0;
  int last_seeing = 0;
  for (int x = 0; x < count; ++x) {
    if (panel.first[x] < panel.last[x]) {
      if (seeing++ == 0) first_seeing = x;
      last_seeing = x;
    } else {
      panel.first[x] = panel.last[x] = 0;
    }
  }
  if (seeing == 0) {
    panel.any_first = panel.any_last = panel.all_first = panel.all_last = 0;
    return;
  }
  panel.any_first = panel.first[first_seeing];
  panel.any_last = panel.last[last_seeing];
  panel.all_first = panel.first[last_seeing];
  panel.all_last = seeing == count ? panel.last[first_seeing] : 0;
}

}  // namespace volvelle
