#pragma once

#include <functional>

namespace volvelle::cli {

/// How long a call takes.
struct CallTime {
  double milliseconds = 0;  ///< the median of `calls`
  int calls = 0;
};

/// Times `first`; when that was short, then `plain`, a few times. The first call also starts
/// threads, touches fresh memory and makes what is not asked of the operation itself; `plain` does
/// just that operation.
CallTime timed_calls(const std::function<void()>& first, const std::function<void()>& plain);

}  // namespace volvelle::cli
