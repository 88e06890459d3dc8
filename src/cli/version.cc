#include "cli/version.h"

#include "volvelle/attention/simd.h"
#include "volvelle/base/threads.h"

namespace volvelle::cli {

std::string version_text() {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  std::string sets;
  for (const std::string& name : simd_targets()) sets += (sets.empty() ? "" : " ") + name;
  return "volvelle " VOLVELLE_VERSION "\ncompiler          " + compiler + "\ninstruction sets  " +
         sets + " (built and on this CPU)\nchosen            " + simd_target() +
         "\nthreads           " + std::to_string(threads()) + '\n';
}

}  // namespace volvelle::cli
