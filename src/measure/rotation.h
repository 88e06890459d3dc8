#pragma once

#include <cstddef>

namespace volvelle {

/// How many sets of `set_bytes` are to be used in turn, so that each comes from memory: as many as
/// fill `cold_bytes`, at least two and at most 16384, but no more than fit into half of the memory
/// that is free (and then at least one).
std::size_t sets_in_rotation(std::size_t set_bytes, std::size_t cold_bytes);

}  // namespace volvelle
