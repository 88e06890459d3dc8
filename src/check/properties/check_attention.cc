#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/thread_pool.h"
#include "check/properties/property.h"
#include "check/properties/route.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"
#include "volvelle/check/attention_properties.h"

namespace volvelle {
namespace {

using properties::Control;
using properties::Property;
using properties::References;
using properties::Route;
using properties::Subject;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<const Property*> chosen_properties(const std::string& name) {
  std::vector<const Property*> chosen;
  std::string names;
  for (const Property& each : properties::catalog()) {
    if (name.empty() || name == each.name) chosen.push_back(&each);
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  if (chosen.empty()) {
    throw InvalidArgument("[check attention] no property is called \"" + name + "\"; there are " +
                          names);
  }
  return chosen;
}

// Empty functions filled in with the library's.
AttentionOperation completed(AttentionOperation operation) {
  if (!operation.attend) {
    operation.attend = [](const AttentionProblem& problem, const AttentionRequest& request,
                          const AttentionOptions& options) {
      return attend(problem, request, options);
    };
  }
  if (!operation.attend_backward) {
    operation.attend_backward = [](const AttentionProblem& problem, const AttentionSaved& saved,
                                   const View& grad_output, const AttentionOptions& options) {
      return attend_backward(problem, saved, grad_output, AttentionGradientRequest{}, options);
    };
  }
  if (!operation.attend_cached) {
    operation.attend_cached = [](const AttentionProblem& problem, const KeyValueCache& cache,
                                 std::span<const Sequence> sequences,
                                 const AttentionOptions& options) {
      return attend(problem, cache, sequences, AttentionRequest{}, options);
    };
  }
  return operation;
}

// The error, or infinity and what was thrown.
double measured(const Property& property, const Subject& subject, std::string& note) {
  try {
    const double error = property.error(subject);
    return std::isnan(error) ? kInfinity : error;
  } catch (const Unsupported&) {
    throw;  // a forced path may refuse
  } catch (const Error& thrown) {
    note = thrown.what();
    return kInfinity;
  }
}

// One property on one route: a row for each control.
std::vector<PropertyRow> measure(const Property& property, const Route& route,
                                 const PropertyOptions& options,
                                 const AttentionOperation& operation, References& references) {
  set_simd_target(route.simd.empty() ? "best" : route.simd);
  const AttentionOptions how{.path = route.path, .threads = resolve_threads(options.threads)};
  PropertyRow row;
  row.property = property.name;
  row.path = route.path_name();
  row.simd = route.simd_name();
  row.tolerance = property.tolerance;
  row.error = measured(property, {operation, how, options.seed, references}, row.note);
  std::vector<PropertyRow> rows;
  for (const Control& control : property.controls) {
    PropertyRow with_control = row;
    const AttentionOperation twin = completed(control.broken(operation));
    std::string thrown;
    with_control.control = control.name;
    with_control.control_error = measured(property, {twin, how, options.seed, references}, thrown);
    if (!(row.error <= row.tolerance)) {
      with_control.verdict = PropertyVerdict::fails;
    } else if (with_control.control_error <= row.tolerance || !thrown.empty()) {
      // A twin that throws shows nothing about the measurement.
      with_control.verdict = PropertyVerdict::control_passes;
      with_control.note = thrown;
    }
    rows.push_back(std::move(with_control));
  }
  return rows;
}

}  // namespace

std::string_view name_of(PropertyVerdict verdict) noexcept {
  switch (verdict) {
    case PropertyVerdict::holds:
      return "holds";
    case PropertyVerdict::fails:
      return "fails";
    case PropertyVerdict::control_passes:
      break;
  }
  return "control passes";
}

bool PropertyReport::holds() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const PropertyRow& row) { return row.verdict == PropertyVerdict::holds; });
}

PropertyReport check_attention(const PropertyOptions& options) {
  const properties::SimdRestored restored;
  resolve_threads(options.threads);
  const std::vector<const Property*> chosen = chosen_properties(options.property);
  const std::vector<Route> routes = properties::routes_of(options);
  const AttentionOperation operation = completed(options.operation);
  PropertyReport report;
  for (const Property* property : chosen) {
    if (options.begins) options.begins(property->name);
    References references;
    for (const Route& route : routes) {
      if (options.stopped && options.stopped()) {
        report.complete = false;
        return report;
      }
      try {
        for (PropertyRow& row : measure(*property, route, options, operation, references)) {
          report.rows.push_back(std::move(row));
        }
      } catch (const Unsupported& refusal) {
        report.refused.push_back(
            {property->name, route.path_name(), route.simd_name(), refusal.what()});
      }
    }
  }
  return report;
}

const std::vector<PropertyEntry>& attention_properties() {
  static const std::vector<PropertyEntry> kEntries = [] {
    std::vector<PropertyEntry> entries;
    for (const Property& property : properties::catalog()) {
      PropertyEntry entry{property.name, property.sentence, {}};
      for (const Control& control : property.controls) entry.controls.push_back(control.name);
      entries.push_back(std::move(entry));
    }
    return entries;
  }();
  return kEntries;
}

}  // namespace volvelle
