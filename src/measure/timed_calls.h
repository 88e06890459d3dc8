#pragma once

#include <functional>

#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// How to time something against this machine's peak.
struct TimedCalls {
  std::function<void()> call;
  double operations = 0;  ///< of one call
  DType dtype = DType::float32;
  int threads = 1;
  double seconds = 0.5;
  std::function<bool()> stopped = {};
};

struct Timing {
  double seconds = 0;        ///< of one call, median
  double peak_gflops = 0;    ///< median
  double share_of_peak = 0;  ///< median
  int repetitions = 0;
};

/// Repetitions of at least 200 us with the peak taken for 40 us before and after each, so that
/// changes of the clock and of what else the machine does drop out of the share. The first
/// repetition warms up and is not counted.
Timing time_against_peak(const TimedCalls& timed);

}  // namespace volvelle
