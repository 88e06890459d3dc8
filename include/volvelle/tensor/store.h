#pragma once

#include <cstdint>

namespace volvelle {

/// What an operation does with what its output held before.
enum class Store : std::uint8_t {
  overwrite,
  accumulate,  ///< adds the result to it
};

}  // namespace volvelle
