#pragma once

#include <cstdint>
#include <string>

namespace volvelle {

/// The formulas of a placement, each different one once with '|' between where layers differ, and
/// what `n` and `alpha` stand for where they occur.
std::string formulas_of(const std::string& placement, std::int64_t layers);

/// What `n` and `alpha` stand for, in parentheses with a blank before, where a formula has them.
std::string words_of_formula(const std::string& formula);

}  // namespace volvelle
