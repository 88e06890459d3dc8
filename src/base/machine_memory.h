#pragma once

#include <cstdint>

namespace volvelle {

/// Bytes of memory that this machine has; 0 where the system does not say.
std::int64_t machine_memory() noexcept;

}  // namespace volvelle
