#include "volvelle/measure/machine.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/thread_pool.h"
#include "volvelle/attention/simd.h"
#include "volvelle/measure/peak.h"

namespace volvelle {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

int allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// The median of many short looks: most of them are not interrupted by what else runs.
double steady_peak(DType dtype, int threads) {
  constexpr std::size_t kLooks = 101;
  std::vector<double> rates;
  for (std::size_t i = 0; i < kLooks; ++i) rates.push_back(fma_peak_gflops(dtype, threads, 100));
  std::nth_element(rates.begin(), rates.begin() + kLooks / 2, rates.end());
  return rates[kLooks / 2];
}

}  // namespace

Machine measure_machine(int threads) {
  Machine machine;
  machine.cpu = cpu_name();
  machine.logical_cpus = allowed_cpus();
  machine.threads = resolve_threads(threads);
  machine.simd = simd_target();
  machine.peak_gflops_f32 = steady_peak(DType::float32, machine.threads);
  machine.peak_gflops_f64 = steady_peak(DType::float64, machine.threads);
  machine.peak_gflops_bf16 = steady_peak(DType::bfloat16, machine.threads);
  machine.read_gbs = read_bandwidth_gbs(machine.threads);
  return machine;
}

}  // namespace volvelle
