#pragma once

#include <string>
#include <vector>

#include "volvelle/check/attention_properties.h"

namespace volvelle::properties {

/// One way to the answer: a path and, for the fused one, an instruction set.
struct Route {
  AttentionPath path = AttentionPath::composed;
  std::string simd;  ///< empty for the composed path

  std::string path_name() const;
  std::string simd_name() const;  ///< as AttentionPlan names it
};

/// The routes that the options leave. Throws InvalidArgument for paths and instruction sets that
/// there are not. May force an instruction set.
std::vector<Route> routes_of(const PropertyOptions& options);

/// Sets the instruction set that was in use again when it goes.
class SimdRestored {
 public:
  SimdRestored();
  ~SimdRestored();
  SimdRestored(const SimdRestored&) = delete;
  SimdRestored& operator=(const SimdRestored&) = delete;

 private:
  std::string before_;
};

}  // namespace volvelle::properties
