#pragma once

#include "volvelle/base/export.h"

namespace volvelle {

/// While one lives, operators on this thread record nothing and save nothing.
class VOLVELLE_API NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// While one lives, they record again, inside a NoGrad too.
class VOLVELLE_API WithGrad {
 public:
  WithGrad();
  ~WithGrad();
  WithGrad(const WithGrad&) = delete;
  WithGrad& operator=(const WithGrad&) = delete;

 private:
  bool before_;
};

/// Whether operators on this thread record.
VOLVELLE_API bool is_grad_enabled() noexcept;

}  // namespace volvelle
