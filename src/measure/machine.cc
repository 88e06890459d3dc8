#include "volvelle/measure/machine.h"

#include <sched.h>

#include <fstream>

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

}  // namespace

Machine measure_machine(int threads) {
  Machine machine;
  machine.cpu = cpu_name();
  machine.logical_cpus = allowed_cpus();
  machine.threads = resolve_threads(threads);
  machine.simd = simd_target();
  machine.peak_gflops_f32 = fma_peak_gflops(DType::float32, machine.threads, 20000);
  machine.peak_gflops_f64 = fma_peak_gflops(DType::float64, machine.threads, 20000);
  machine.read_gbs = read_bandwidth_gbs(machine.threads);
  return machine;
}

}  // namespace volvelle
