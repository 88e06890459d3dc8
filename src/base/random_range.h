#pragma once

#include <cstdint>

namespace volvelle {

/// What the generators demand of their arguments; each throws InvalidArgument, beginning with
/// "[operation] ".
void check_uniform_range(const char* operation, double low, double high, double largest);
void check_deviation(const char* operation, double mean, double deviation);
void check_integer_range(const char* operation, std::int64_t low, std::int64_t high);
void check_probability(const char* operation, double probability);

}  // namespace volvelle
