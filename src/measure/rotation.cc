#include "measure/rotation.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace volvelle {
namespace {

// What the system would give without swapping; everything where it does not say.
std::size_t free_bytes() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    constexpr std::string_view kName = "MemAvailable:";
    if (line.starts_with(kName)) return std::stoull(line.substr(kName.size())) * 1024;  // in kB
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace

std::size_t sets_in_rotation(std::size_t set_bytes, std::size_t cold_bytes) {
  constexpr std::size_t kMostSets = 16384;  // tiny ones would take longer to make than to time
  const std::size_t size = std::max<std::size_t>(set_bytes, 1);
  const std::size_t wanted = std::clamp<std::size_t>((cold_bytes + size - 1) / size, 2, kMostSets);
  return std::clamp<std::size_t>(free_bytes() / 2 / size, 1, wanted);
}

}  // namespace volvelle
