#pragma once

#include <string>

namespace volvelle::cli {

/// Library, compiler, instruction sets built and chosen.
std::string version_text();

}  // namespace volvelle::cli
