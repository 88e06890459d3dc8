#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "check/properties/draws.h"
#include "volvelle/check/attention_properties.h"

namespace volvelle::properties {

/// What a property is measured on: an operation, sound or broken, on one route.
struct Subject {
  const AttentionOperation& operation;
  AttentionOptions options;
  std::uint64_t seed = 1;

  AttentionResult attend(const AttentionProblem& problem,
                         const AttentionRequest& request = {}) const {
    return operation.attend(problem, request, options);
  }
  /// Numbers of this measurement's own, the same for every route and twin.
  Draws draws(std::uint64_t stream = 0) const { return Draws(seed * 1000003 + stream); }
};

/// A way to break an operation.
struct Control {
  const char* name;
  std::function<AttentionOperation(const AttentionOperation& sound)> broken;
};

/// A line of the catalog. `error` measures how far the subject is from having the property; a sound
/// one stays within `tolerance`, each control does not.
struct Property {
  const char* name;
  const char* sentence;
  double tolerance;
  double (*error)(const Subject& subject);
  std::vector<Control> controls;
};

/// In the order they are measured.
const std::vector<Property>& catalog();

}  // namespace volvelle::properties
