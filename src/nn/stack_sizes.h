#pragma once

#include <cstdint>

namespace volvelle {

/// Throws InvalidArgument for a number of layers below 1 or so large that it is a slip (a table of
/// as many blocks would not fit).
void check_layers(std::int64_t layers);

}  // namespace volvelle
