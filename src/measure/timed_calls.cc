#include "measure/timed_calls.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include "base/thread_pool.h"
#include "measure/read_buffer.h"
#include "volvelle/attention/simd.h"
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
double run(const std::function<void()>& call, std::int64_t calls) {
  const Clock::time_point start = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) call();
  return seconds_since(start);
}

// How many calls fill `shortest` seconds, found by doubling; the calls also warm caches and
// workspaces.
std::int64_t calls_per_repetition(const std::function<void()>& call, double shortest) {
  std::int64_t calls = 1;
  for (double taken = run(call, 1); taken < shortest && calls < (1 << 20);) {
    const double wanted = std::ceil(shortest / std::max(taken, 1e-9) * static_cast<double>(calls));
    calls = std::clamp(static_cast<std::int64_t>(wanted), calls + 1, 2 * calls);
    taken = run(call, calls);
  }
  return calls;
}

// A rate of the work over a rate of the machine taken before and after each repetition of it.
class Share {
 public:
  explicit Share(std::function<double()> machine_rate) : machine_rate_(std::move(machine_rate)) {
    before_ = machine_rate_();
  }
  void add(double work_rate) {
    const double after = machine_rate_();
    rates_.push_back((before_ + after) / 2);
    shares_.push_back(work_rate / rates_.back());
    before_ = after;
  }
  double rate() const { return median(rates_); }
  double share() const { return median(shares_); }

 private:
  std::function<double()> machine_rate_;
  double before_ = 0;
  std::vector<double> rates_, shares_;
};

double read_rate(int threads) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  constexpr std::int64_t kBlocks = 32;
  thread_local std::optional<ReadBuffer> buffer;
  if (!buffer) buffer.emplace(kBytes, threads);
  return buffer->read_gbs(kBlocks, threads);
}

}  // namespace

Figures time_calls(const TimedCalls& timed, const MeasureOptions& how) {
  constexpr double kPeakMicroseconds = 40;
  constexpr std::size_t kFewest = 5, kMost = 200000;
  const int threads = resolve_threads(how.threads);
  const auto stopped = [&] { return how.stopped && how.stopped(); };
  const bool reads = timed.bytes > 0;
  const std::int64_t calls = calls_per_repetition(timed.call, reads ? 3e-3 : 200e-6);
  std::optional<Share> of_bandwidth;
  if (reads) of_bandwidth.emplace([&] { return read_rate(threads); });
  Share of_peak([&] { return fma_peak_gflops(timed.dtype, threads, kPeakMicroseconds); });
  std::vector<double> seconds, ratios;
  if (timed.beside) timed.beside();  // warm
  const Clock::time_point start = Clock::now();
  while (seconds.size() < kMost && !stopped() &&
         (seconds.size() < kFewest || seconds_since(start) < how.seconds)) {
    const double taken = run(timed.call, calls) / static_cast<double>(calls);
    seconds.push_back(taken);
    of_peak.add(timed.operations / taken * 1e-9);
    if (reads) of_bandwidth->add(timed.bytes / taken * 1e-9);
    if (timed.beside) {
      ratios.push_back(taken * static_cast<double>(calls) / run(timed.beside, calls));
    }
  }
  Figures figures;
  figures.threads = threads;
  figures.simd = simd_target();
  figures.repetitions = static_cast<int>(seconds.size());
  figures.ratio = median(std::move(ratios));
  const double typical = median(std::move(seconds));
  figures.milliseconds = typical * 1e3;
  figures.gflops = typical > 0 ? timed.operations / typical * 1e-9 : 0;
  figures.peak_gflops = of_peak.rate();
  figures.share_of_peak = of_peak.share();
  if (reads) {
    figures.gigabytes_per_second = typical > 0 ? timed.bytes / typical * 1e-9 : 0;
    figures.read_gbs = of_bandwidth->rate();
    figures.share_of_bandwidth = of_bandwidth->share();
  }
  return figures;
}

}  // namespace volvelle
