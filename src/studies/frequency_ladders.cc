#include "studies/frequency_ladders.h"

#include <cmath>

namespace volvelle {

FrequencyLadder geometric_ladder(std::int64_t width, double base) {
  FrequencyLadder ladder;
  for (std::int64_t i = 0; i < width / 2; ++i) {
    ladder.rates.push_back(
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width)));
  }
  return ladder;
}

FrequencyLadder linear_ladder(std::int64_t width, double base) {
  FrequencyLadder ladder = geometric_ladder(width, base);
  const double last = ladder.rates.back();
  const auto steps = static_cast<double>(ladder.rates.size() - 1);
  for (std::size_t i = 1; i + 1 < ladder.rates.size(); ++i) {
    ladder.rates[i] = 1 - (1 - last) * static_cast<double>(i) / steps;
  }
  return ladder;
}

std::int64_t linear_pairs_for_two_slowest(std::int64_t width, double base) {
  const FrequencyLadder ladder = geometric_ladder(width, base);
  const std::size_t count = ladder.rates.size();
  if (count < 3) return static_cast<std::int64_t>(count);
  const double step = ladder.rates[count - 2] - ladder.rates[count - 1];
  return static_cast<std::int64_t>(std::ceil((1 - ladder.rates.back()) / step - 1e-9)) + 1;
}

double distance_at(const FrequencyLadder& ladder, std::int64_t offset) {
  double squares = 0;
  for (const double rate : ladder.rates) {
    const double half = std::sin(static_cast<double>(offset) * rate / 2);
    squares += 4 * half * half;
  }
  return std::sqrt(squares);
}

ClosestRows closest_rows(const FrequencyLadder& ladder, std::int64_t furthest) {
  ClosestRows closest;
  for (std::int64_t offset = 1; offset <= furthest; ++offset) {
    const double distance = distance_at(ladder, offset);
    if (closest.offset == 0 || distance < closest.distance) closest = {offset, distance};
  }
  return closest;
}

}  // namespace volvelle
