#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace volvelle {

/// Throws InvalidArgument that names the first length below 1.
void check_positive(std::initializer_list<std::pair<const char*, std::int64_t>> lengths);

}  // namespace volvelle
