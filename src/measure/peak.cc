#include "volvelle/measure/peak.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/peak.h"
#include "kernels/simd_choice.h"
#include "measure/read_buffer.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One core's rounds of operations on registers, for as long as it lives.
class Rounds {
 public:
  explicit Rounds(DType dtype)
      : dtype_(dtype), pairs_(dtype == DType::bfloat16 ? kernels::pair_multiplier() : nullptr) {
    if (pairs_ != nullptr) pairs_->begin();
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;
  ~Rounds() {
    if (pairs_ != nullptr) pairs_->end();
  }

  // Operations of about 3 us.
  double run() {
    constexpr std::int64_t kRounds = 256, kPairRounds = 128;
    float f32 = 0;
    double f64 = 0;
    if (pairs_ != nullptr) return pairs_->rounds(kPairRounds, &f32);
    return dtype_ == DType::float64 ? kernels::fma_rounds_f64(kRounds, &f64)
                                    : kernels::fma_rounds_f32(kRounds, &f32);
  }

 private:
  DType dtype_;
  const kernels::PairMultiplier* pairs_;
};

// One core's rate over about `seconds`. The best of its pieces would flatter; this is the mean,
// after a short warm-up that also wakes the wide units.
double one_core_gflops(DType dtype, double seconds) {
  Rounds rounds(dtype);
  rounds.run();
  const Clock::time_point start = Clock::now();
  double operations = 0;
  double elapsed = 0;
  do {
    operations += rounds.run();
    elapsed = seconds_since(start);
  } while (elapsed < seconds);
  return operations / elapsed * 1e-9;
}

}  // namespace

double fma_peak_gflops(DType dtype, int threads, double microseconds) {
  if (!is_floating(dtype)) {
    throw InvalidArgument("[fma_peak] a floating dtype is needed, not " +
                          std::string(name_of(dtype)));
  }
  if (!(microseconds > 0 && microseconds <= 1e6)) {
    throw InvalidArgument("[fma_peak] microseconds=" + std::to_string(microseconds) +
                          " is not in (0, 1e6]");
  }
  const int count = resolve_threads(threads);
  if (count == 1) return one_core_gflops(dtype, microseconds * 1e-6);
  // Each task times itself, so that waking a worker does not count.
  std::vector<double> rates(static_cast<std::size_t>(count), 0.0);
  parallel_for(count, count, [&](std::int64_t task) {
    rates[static_cast<std::size_t>(task)] = one_core_gflops(dtype, microseconds * 1e-6);
  });
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

double read_bandwidth_gbs(int threads, std::size_t bytes) {
  const int count = resolve_threads(threads);
  if (bytes < ReadBuffer::kBlock) {
    throw InvalidArgument("[read_bandwidth] " + std::to_string(bytes) +
                          " bytes; at least 1048576 are needed");
  }
  ReadBuffer buffer(bytes, count);
  double best = 0;
  for (int pass = 0; pass < 5; ++pass) {
    best = std::max(best, buffer.read_gbs(buffer.blocks(), count));
  }
  return best;
}

}  // namespace volvelle
