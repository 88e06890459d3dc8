#pragma once

#include <cstddef>
#include <memory>

#include "volvelle/base/export.h"

namespace volvelle {

/// Memory of tensors that were let go, kept for later ones of about that size: a step of training
/// allocates what the step before it allocated, and the system's way of giving large blocks back
/// and fresh (page by page, zeroed) costs more than some of the arithmetic.
///
/// Used by tensors of 4 KiB and more that are made while a ReuseScope of it lives on their thread,
/// whichever thread lets them go and when. Blocks come in sizes a sixteenth apart.
/// Memory: blocks in use and kept together never exceed the most that was in use at once since this
/// was made; where a block of a new size would break that, the longest unused kept ones go.
/// Safe to be used by several threads at once, each with a ReuseScope; cheap where one uses it.
/// What is kept is unreadable to the address sanitizer, so uses after the end still show.
class VOLVELLE_API MemoryReuse {
 public:
  MemoryReuse();
  ~MemoryReuse();  ///< gives back what is kept; tensors still alive give back theirs when they go
  MemoryReuse(const MemoryReuse&) = delete;
  MemoryReuse& operator=(const MemoryReuse&) = delete;

  /// Gives back what is kept now.
  void release();
  std::size_t kept_bytes() const;
  std::size_t used_bytes() const;
  std::size_t peak_bytes() const;  ///< the most that was in use at once

  class Blocks;

 private:
  friend class ReuseScope;
  std::shared_ptr<Blocks> blocks_;
};

/// While one lives, tensors made on this thread use the memory's blocks (those of the innermost
/// scope).
class VOLVELLE_API ReuseScope {
 public:
  explicit ReuseScope(const MemoryReuse& memory);
  ~ReuseScope();
  ReuseScope(const ReuseScope&) = delete;
  ReuseScope& operator=(const ReuseScope&) = delete;

 private:
  std::shared_ptr<MemoryReuse::Blocks> before_;
};

}  // namespace volvelle
