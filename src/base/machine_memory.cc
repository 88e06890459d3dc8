#include "base/machine_memory.h"

#include <unistd.h>

namespace volvelle {

std::int64_t machine_memory() noexcept {
#if defined(_SC_PHYS_PAGES)
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  std::int64_t bytes = 0;
  if (pages > 0 && size > 0 && !__builtin_mul_overflow(std::int64_t{pages}, size, &bytes)) {
    return bytes;
  }
#endif
  return 0;
}

}  // namespace volvelle
