#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/attention/key_value_cache.h"
#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// Attention as its users call it: what the properties are asked of. An empty function stands for
/// this library's; anything else with the same contract can be held to it as well.
struct AttentionOperation {
  std::function<AttentionResult(const AttentionProblem&, const AttentionRequest&,
                                const AttentionOptions&)>
      attend = {};
  std::function<AttentionGradientResult(const AttentionProblem&, const AttentionSaved&,
                                        const View& grad_output, const AttentionOptions&)>
      attend_backward = {};  ///< all gradients that the problem has
  std::function<AttentionResult(const AttentionProblem&, const KeyValueCache&,
                                std::span<const Sequence>, const AttentionOptions&)>
      attend_cached = {};
};

/// What a row of the check says.
enum class PropertyVerdict : std::uint8_t {
  holds,           ///< the error is within the tolerance, the control's is not
  fails,           ///< the error is beyond the tolerance
  control_passes,  ///< the broken twin is within it too: this check would not see the fault
};
VOLVELLE_API std::string_view name_of(PropertyVerdict verdict) noexcept;

/// One property on one route, or of one position scheme, beside one control: the same measurement
/// on a twin of the operation that is broken in one known way.
struct PropertyRow {
  std::string property;
  std::string scheme;  ///< of `check positions`, with its settings; then there is no route
  std::string path;    ///< "fused" or "composed"
  std::string simd;    ///< instruction set of the kernels, as AttentionPlan names it
  double error = 0;    ///< the worst seen; infinite where a value is not finite and should be
  double tolerance = 0;
  std::string control;  ///< what is broken in the twin
  double control_error = 0;
  PropertyVerdict verdict = PropertyVerdict::holds;
  std::string note;  ///< what was thrown, if anything
};

/// A property in words.
struct PropertyEntry {
  std::string name;
  std::string sentence;
  std::vector<std::string> controls;
};

struct PropertyOptions {
  std::string property;                    ///< one name; empty: all
  std::optional<AttentionPath> path = {};  ///< fused or composed; absent: both
  std::string simd;                        ///< one of simd_targets(); empty: all
  int threads = 0;                         ///< 0: the process's setting
  std::uint64_t seed = 1;                  ///< of all numbers drawn
  AttentionOperation operation = {};
  std::function<bool()> stopped = {};  ///< true: end early with what there is
  std::function<void(const std::string& property)> begins = {};  ///< told before each property
};

/// A property that a path refused with Unsupported: the composed path is there for such problems.
struct PropertyRefusal {
  std::string property;
  std::string path;
  std::string simd;
  std::string reason;
};

struct PropertyReport {
  std::string of = "attention";  ///< whose properties they are
  std::vector<PropertyRow> rows;
  std::vector<PropertyRefusal> refused;
  bool complete = true;  ///< false: stopped early
  bool holds() const;    ///< every row does
};

/// Measures every property of the attention contract on the fused path, once per instruction set of
/// this build and CPU, and on the composed path; the oracle is the reference where one is needed.
/// Forces instruction sets for the whole process while it runs, and sets the one that was in use
/// again.
/// Throws:  InvalidArgument for an unknown property or instruction set, a path that is neither, a
///          negative number of threads. What the operation throws becomes a row that fails;
///          Unsupported, which a forced path may throw, becomes a refusal.
VOLVELLE_API PropertyReport check_attention(const PropertyOptions& options = {});

/// All properties, in the order they are measured.
VOLVELLE_API const std::vector<PropertyEntry>& attention_properties();

}  // namespace volvelle
