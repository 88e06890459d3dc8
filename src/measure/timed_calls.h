#pragma once

#include <functional>

#include "volvelle/measure/figures.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// How to time something against what this machine can do.
struct TimedCalls {
  std::function<void()> call;
  std::function<void()> beside = {};  ///< called in turn, as often, for `Figures::ratio`
  double operations = 0;              ///< of one call
  double bytes = 0;  ///< that one call must read from memory; 0: not timed against that
  DType dtype = DType::float32;
};

/// Repetitions with the multiply-add peak taken for 40 us before and after each, so that changes of
/// the clock and of what else the machine does drop out of the share. Where bytes are given, 32 MiB
/// of a buffer of 256 MiB are read before and after each as well; the buffer is kept for the
/// thread's next case. A repetition is as many calls as fill 200 us, or 3 ms beside such reading.
/// The first warms up and is not counted.
Figures time_calls(const TimedCalls& timed, const MeasureOptions& how);

}  // namespace volvelle
