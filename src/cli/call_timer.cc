#include "cli/call_timer.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace volvelle::cli {
namespace {

constexpr double kLongCall = 1000;  // ms; a longer call is not repeated to time it
constexpr double kEnough = 400;     // ms spent on repetitions
constexpr int kCalls = 5;

double timed(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

CallTime timed_calls(const std::function<void()>& first, const std::function<void()>& plain) {
  std::vector<double> times{timed(first)};
  if (times[0] < kLongCall) {
    times.clear();
    double spent = 0;
    while (times.size() < kCalls && spent < kEnough) {
      times.push_back(timed(plain));
      spent += times.back();
    }
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], static_cast<int>(times.size())};
}

}  // namespace volvelle::cli
