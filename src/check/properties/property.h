#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random_numbers.h"
#include "volvelle/check/attention_properties.h"

namespace volvelle::properties {

/// Reference numbers that take long and are the same for every route and twin.
using References = std::map<std::string, std::vector<double>>;

/// What a property is measured on: an operation, sound or broken, on one route.
struct Subject {
  const AttentionOperation& operation;
  AttentionOptions options;
  std::uint64_t seed = 1;
  References& references;

  AttentionResult attend(const AttentionProblem& problem,
                         const AttentionRequest& request = {}) const {
    return operation.attend(problem, request, options);
  }
  /// Every gradient that the problem has, from what `attend` gave.
  AttentionGradientResult attend_backward(const AttentionProblem& problem,
                                          const AttentionResult& saved,
                                          const View& grad_output) const {
    return operation.attend_backward(
        problem, {.output = saved.output.view(), .lse = saved.lse.view()}, grad_output, options);
  }
  AttentionResult attend_cached(const AttentionProblem& problem, const KeyValueCache& cache,
                                std::span<const Sequence> sequences) const {
    return operation.attend_cached(problem, cache, sequences, options);
  }
  /// Forward and back.
  AttentionGradientResult gradients(const AttentionProblem& problem,
                                    const View& grad_output) const {
    return attend_backward(problem, attend(problem), grad_output);
  }
  /// The reference of that name, computed where it is not yet there.
  const std::vector<double>& reference(const std::string& name,
                                       const std::function<std::vector<double>()>& compute) const {
    const auto found = references.find(name);
    return found != references.end() ? found->second : references[name] = compute();
  }
  /// Numbers of this measurement's own, the same for every route and twin.
  RandomNumbers draws(std::uint64_t stream = 0) const {
    return RandomNumbers(seed * 1000003 + stream);
  }
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
