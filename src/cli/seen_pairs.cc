#include "cli/seen_pairs.h"

#include <algorithm>

#include "volvelle/tensor/tensor.h"

namespace volvelle::cli {
namespace {

constexpr double kFar = 1e12;  // beyond every length: offsets are held there
constexpr std::int64_t kLongest = std::int64_t{1} << 62;  // so that sums do not overflow

std::int64_t entry(const View& list, std::int64_t row) {
  const std::int64_t at = list.shape()[0] == 1 ? 0 : row * list.strides()[0];
  return static_cast<std::int64_t>(std::clamp(element_as_double(list, at), -kFar, kFar));
}

std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

}  // namespace

std::optional<double> seen_pairs(const AttentionProblem& problem, const AttentionPlan& plan) {
  if (problem.keep || problem.query_segments) return std::nullopt;
  const std::int64_t keys = plan.keys;
  double pairs = 0;
  for (std::int64_t b = 0; b < plan.batch; ++b) {
    std::int64_t first = 0;
    std::int64_t last = keys;
    if (problem.key_lengths) {
      const std::int64_t length = entry(problem.key_lengths, b);
      if (problem.padding == Padding::right) last = length;
      if (problem.padding == Padding::left) first = keys - length;
    }
    std::int64_t offset = problem.alignment == Alignment::bottom_right ? keys - plan.queries : 0;
    if (problem.query_offset) offset = entry(problem.query_offset, b);
    for (std::int64_t i = 0; i < plan.queries; ++i) {
      const std::int64_t p = i + offset;
      std::int64_t begin = first;
      std::int64_t end = last;
      if (problem.causal) end = std::min(end, std::max(p + 1, problem.prefix));
      if (problem.window > 0)
        begin = std::max(begin, p - std::min<std::int64_t>(problem.window, kLongest) + 1);
      if (problem.window_right > 0)
        end = std::min(end, p + std::min<std::int64_t>(problem.window_right, kLongest));
      if (problem.chunk > 0) {
        const std::int64_t chunk = std::min<std::int64_t>(problem.chunk, kLongest);
        begin = std::max(begin, floor_to(p, chunk));
        end = std::min(end, floor_to(p, chunk) + chunk);
      }
      pairs += static_cast<double>(std::max<std::int64_t>(end - begin, 0));
    }
  }
  return pairs * static_cast<double>(plan.heads);
}

}  // namespace volvelle::cli
