#include "measure/positive_lengths.h"

#include <string>

#include "volvelle/base/error.h"

namespace volvelle {

void check_positive(std::initializer_list<std::pair<const char*, std::int64_t>> lengths) {
  for (const auto& [name, length] : lengths) {
    if (length < 1) {
      throw InvalidArgument(std::string("[bench] ") + name + " " + std::to_string(length) +
                            " must be at least 1");
    }
  }
}

}  // namespace volvelle
