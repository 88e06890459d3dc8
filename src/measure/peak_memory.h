#pragma once

#include <cstddef>

namespace volvelle {

/// How much memory a piece of work needed at once.
class PeakMemory {
 public:
  /// Gives what the process has freed back to the system and starts to look.
  PeakMemory();
  /// The most that was resident since, less what was at the start.
  std::size_t bytes() const;

 private:
  std::size_t before_;
};

}  // namespace volvelle
