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
  std::int64_t* first = panel.first;
  std::int64_t* last = panel.last;
  std::fill(first, first + count, lowest);
  std::fill(last, last + count, highest);
  const std::int64_t position = problem.offset(b) + query;  // of the first query
  if (problem.causal) {
    const std::int64_t prefix = std::min(problem.prefix, keys);
    for (int x = 0; x < count; ++x) {
      last[x] = std::min(last[x], std::max(position + x + 1, prefix));
    }
  }
  if (problem.window > 0) {
    const std::int64_t reach = std::min(problem.window, kFar) - 1;
    for (int x = 0; x < count; ++x) first[x] = std::max(first[x], position + x - reach);
  }
  if (problem.window_right > 0) {
    const std::int64_t reach = std::min(problem.window_right, kFar);
    for (int x = 0; x < count; ++x) last[x] = std::min(last[x], position + x + reach);
  }
  if (problem.chunk > 0) {
    const std::int64_t chunk = std::min(problem.chunk, kFar);
    for (int x = 0; x < count; ++x) {
      const std::int64_t start = floor_div(position + x, chunk) * chunk;
      first[x] = std::max(first[x], start);
      last[x] = std::min(last[x], start + chunk);
    }
  }
  panel.any_first = keys;
  panel.any_last = 0;
  for (int x = 0; x < count; ++x) {
    if (first[x] >= last[x]) {
      first[x] = 0;
      last[x] = 0;
      panel.all_last = 0;
      continue;
    }
    panel.any_first = std::min(panel.any_first, first[x]);
    panel.any_last = std::max(panel.any_last, last[x]);
    panel.all_first = std::max(panel.all_first, first[x]);
    panel.all_last = std::min(panel.all_last, last[x]);
  }
  if (panel.any_first >= panel.any_last) panel.any_first = panel.any_last = 0;
}

}  // namespace volvelle
