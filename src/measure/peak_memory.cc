#include "measure/peak_memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace volvelle {
namespace {

// "VmHWM:     1234 kB" of /proc/self/status; 0 where the system has none.
std::size_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoull(line.substr(key.size())) * 1024;
  }
  return 0;
}

}  // namespace

PeakMemory::PeakMemory() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << '5';  // the peak starts anew (proc(5))
  before_ = status_bytes("VmRSS:");
}

std::size_t PeakMemory::bytes() const {
  const std::size_t peak = status_bytes("VmHWM:");
  return peak > before_ ? peak - before_ : 0;
}

}  // namespace volvelle
