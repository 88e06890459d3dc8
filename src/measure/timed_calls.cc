#include "measure/timed_calls.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "volvelle/measure/peak.h"

namespace volvelle {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Seconds of `calls` calls.
double run(const TimedCalls& timed, std::int64_t calls) {
  const Clock::time_point start = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) timed.call();
  return seconds_since(start);
}

// How many calls fill 200 us, found by doubling; the calls also warm caches and workspaces.
std::int64_t calls_per_repetition(const TimedCalls& timed) {
  constexpr double kShortest = 200e-6;
  std::int64_t calls = 1;
  for (double taken = run(timed, 1); taken < kShortest && calls < (1 << 20);) {
    const double wanted = std::ceil(kShortest / std::max(taken, 1e-9) * static_cast<double>(calls));
    calls = std::clamp(static_cast<std::int64_t>(wanted), calls + 1, 2 * calls);
    taken = run(timed, calls);
  }
  return calls;
}

}  // namespace

Timing time_against_peak(const TimedCalls& timed) {
  constexpr double kPeakMicroseconds = 40;
  constexpr std::size_t kFewest = 5, kMost = 200000;
  const auto peak = [&] { return fma_peak_gflops(timed.dtype, timed.threads, kPeakMicroseconds); };
  const auto stopped = [&] { return timed.stopped && timed.stopped(); };
  const std::int64_t calls = calls_per_repetition(timed);
  std::vector<double> seconds, peaks, shares;
  const Clock::time_point start = Clock::now();
  double before = peak();
  while (seconds.size() < kMost && !stopped() &&
         (seconds.size() < kFewest || seconds_since(start) < timed.seconds)) {
    const double taken = run(timed, calls) / static_cast<double>(calls);
    const double after = peak();
    seconds.push_back(taken);
    peaks.push_back((before + after) / 2);
    shares.push_back(timed.operations / taken * 1e-9 / peaks.back());
    before = after;
  }
  const auto repetitions = static_cast<int>(seconds.size());
  return {median(std::move(seconds)), median(std::move(peaks)), median(std::move(shares)),
          repetitions};
}

}  // namespace volvelle
