#pragma once

#include <string>

#include "volvelle/base/export.h"

namespace volvelle {

/// The machine that figures were taken on, and what it can do at most.
struct Machine {
  std::string cpu;       ///< as the system names it; "unknown" where it does not
  int logical_cpus = 0;  ///< that the process may run on
  int threads = 0;       ///< that the peaks below use
  std::string simd;      ///< instruction set in use
  double peak_gflops_f32 = 0;
  double peak_gflops_f64 = 0;
  double peak_gflops_bf16 = 0;  ///< as `fma_peak_gflops`: float32's where nothing multiplies pairs
  double read_gbs = 0;          ///< memory beyond every cache
};

/// Measures for about a second, most of it in getting memory. Throws as `fma_peak_gflops`.
VOLVELLE_API Machine measure_machine(int threads = 0);

}  // namespace volvelle
