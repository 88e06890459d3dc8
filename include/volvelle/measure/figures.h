#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "volvelle/base/export.h"

namespace volvelle {

/// How a case is timed.
struct MeasureOptions {
  int threads = 0;                       ///< 0: the process's setting
  double seconds = 0.5;                  ///< spent on timing, about
  std::function<bool()> stopped = {};    ///< true: end early with what there is
  std::size_t cold_bytes = 400'000'000;  ///< data that is to come from memory, not from a cache, is
                                         ///< rotated through about this much, or through half of
                                         ///< the memory that is free
};

/// What was measured of any case. Rates that do not apply to it are 0.
struct Figures {
  int threads = 0;
  std::string simd;
  double milliseconds = 0;   ///< of one call, median
  double gflops = 0;         ///< useful operations / median time
  double peak_gflops = 0;    ///< median of the peaks measured around the repetitions
  double share_of_peak = 0;  ///< median over repetitions of rate / peak around that repetition
  double gigabytes_per_second = 0;  ///< bytes that must be read / median time
  double read_gbs = 0;              ///< median of the read rates measured around the repetitions
  double share_of_bandwidth = 0;    ///< median over repetitions, as share_of_peak
  std::size_t cold_bytes = 0;       ///< what the data was rotated through
  double ratio = 0;  ///< median over repetitions of the time over that of what was called in turn
                     ///< with it; 0: nothing was
  double max_error = 0;  ///< largest absolute difference from the oracle on samples
  int repetitions = 0;   ///< 0: stopped before the first
};

}  // namespace volvelle
