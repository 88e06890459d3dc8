#include <algorithm>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "check/properties/property.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"
#include "volvelle/check/attention_properties.h"

namespace volvelle {
namespace {

using properties::Control;
using properties::Property;
using properties::Subject;

// One way to the answer: a path and, for the fused one, an instruction set.
struct Route {
  AttentionPath path;
  std::string simd;
};

// Sets the instruction set that was in use again.
class SimdRestored {
 public:
  SimdRestored() : before_(simd_target()) {}
  ~SimdRestored() { set_simd_target(before_); }
  SimdRestored(const SimdRestored&) = delete;
  SimdRestored& operator=(const SimdRestored&) = delete;

 private:
  std::string before_;
};

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
    for (const std::string& target : simd_targets())
      routes.push_back({AttentionPath::fused, target});
  } else if (fused) {
    set_simd_target(options.simd);  // knows other spellings, and throws with the choices
    routes.push_back({AttentionPath::fused, simd_target()});
  }
  if (composed && options.simd.empty()) routes.push_back({AttentionPath::composed, ""});
  return routes;
}

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

// The error, or infinity and what was thrown.
double measured(const Property& property, const Subject& subject, std::string& note) {
  try {
    const double error = property.error(subject);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  } catch (const Error& thrown) {
    note = thrown.what();
    return std::numeric_limits<double>::infinity();
  }
}

void measure(const Property& property, const Route& route, const PropertyOptions& options,
             std::vector<PropertyRow>& rows) {
  set_simd_target(route.simd.empty() ? "best" : route.simd);
  const AttentionOptions how{.path = route.path, .threads = resolve_threads(options.threads)};
  PropertyRow row;
  row.property = property.name;
  row.path = route.path == AttentionPath::fused ? "fused" : "composed";
  row.simd = route.path == AttentionPath::fused ? simd_target() : "plain loops";
  row.tolerance = property.tolerance;
  row.error = measured(property, {options.operation, how, options.seed}, row.note);
  for (const Control& control : property.controls) {
    PropertyRow with_control = row;
    const AttentionOperation twin = control.broken(options.operation);
    std::string thrown;
    with_control.control = control.name;
    with_control.control_error = measured(property, {twin, how, options.seed}, thrown);
    if (!(row.error <= row.tolerance)) {
      with_control.verdict = PropertyVerdict::fails;
    } else if (with_control.control_error <= row.tolerance || !thrown.empty()) {
      // A twin that throws shows nothing about the measurement.
      with_control.verdict = PropertyVerdict::control_passes;
      with_control.note = thrown;
    }
    rows.push_back(std::move(with_control));
  }
}

}  // namespace

AttentionOperation library_attention() {
  return {
      .attend = [](const AttentionProblem& problem, const AttentionRequest& request,
                   const AttentionOptions& options) { return attend(problem, request, options); }};
}

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
  const SimdRestored restored;
  resolve_threads(options.threads);
  const std::vector<const Property*> chosen = chosen_properties(options.property);
  const std::vector<Route> routes = routes_of(options);
  PropertyReport report;
  for (const Property* property : chosen) {
    if (options.begins) options.begins(property->name);
    for (const Route& route : routes) {
      if (options.stopped && options.stopped()) {
        report.complete = false;
        return report;
      }
      measure(*property, route, options, report.rows);
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
