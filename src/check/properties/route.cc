#include "check/properties/route.h"

#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"

namespace volvelle::properties {

std::string Route::path_name() const { return path == AttentionPath::fused ? "fused" : "composed"; }

std::string Route::simd_name() const { return path == AttentionPath::fused ? simd : "plain loops"; }

std::vector<Route> routes_of(const PropertyOptions& options) {
  const bool fused = !options.path || *options.path == AttentionPath::fused;
  const bool composed = !options.path || *options.path == AttentionPath::composed;
  if (!fused && !composed) {
    throw InvalidArgument("[check attention] the paths that are checked are fused and composed");
  }
  if (!fused && !options.simd.empty()) {
    throw InvalidArgument("[check attention] the composed path has no instruction set to choose (" +
                          options.simd + "); leave it out, or check the fused path");
  }
  std::vector<Route> routes;
  if (fused && options.simd.empty()) {
    for (const std::string& target : simd_targets()) {
      routes.push_back({AttentionPath::fused, target});
    }
  } else if (fused) {
    set_simd_target(options.simd);  // knows other spellings, and throws with the choices
    routes.push_back({AttentionPath::fused, simd_target()});
  }
  if (composed && options.simd.empty()) routes.push_back({AttentionPath::composed, ""});
  return routes;
}

SimdRestored::SimdRestored() : before_(simd_target()) {}

SimdRestored::~SimdRestored() { set_simd_target(before_); }

}  // namespace volvelle::properties
