#pragma once

#include <functional>
#include <vector>

#include "check/positions/subject.h"

namespace volvelle::positions {

/// Whether a property, or a control, has to do with schemes of these traits.
using Concerns = bool (*)(const SchemeTraits& traits);

/// A way to break an operation. A control that cannot show for a scheme (padding counted, where a
/// shift changes nothing) is left out for it.
struct PositionControl {
  const char* name;
  Concerns concerns;
  std::function<PositionOperation(const PositionOperation& sound)> broken;
  bool refuses = false;  ///< what is wrong with it is that it throws
};

/// A line of the catalog. `error` measures how far a scheme is from having the property; a sound
/// one stays within `tolerance`, under each control it does not.
struct PositionProperty {
  const char* name;
  const char* sentence;
  Concerns concerns;
  double tolerance;
  double (*error)(const PositionSubject& subject);
  std::vector<PositionControl> controls;
};

/// In the order they are measured. Every scheme has at least one control of each property that
/// concerns it.
const std::vector<PositionProperty>& catalog();

}  // namespace volvelle::positions
