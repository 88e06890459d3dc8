#pragma once

#include "volvelle/base/export.h"

namespace volvelle {

/// How many threads a call may use when it does not say: what a ThreadScope of this thread says,
/// else the process's setting, which starts as the number of CPUs that the process may run on.
VOLVELLE_API int threads() noexcept;

/// Sets the process's. Throws InvalidArgument below 1 or above 1024.
VOLVELLE_API void set_threads(int count);

/// While one lives, calls from this thread that do not say use at most `count` threads (0: no
/// change), whatever the process's setting. Throws InvalidArgument as `set_threads`.
class VOLVELLE_API ThreadScope {
 public:
  explicit ThreadScope(int count);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace volvelle
