#pragma once

#include <string>

#include "volvelle/base/error.h"

namespace volvelle::testing {

/// What an InvalidArgument says that the call throws.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(nothing was refused)";
}

}  // namespace volvelle::testing
