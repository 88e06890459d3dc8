#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/thread_pool.h"
#include "check/positions/property.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

using positions::PositionControl;
using positions::PositionProperty;
using positions::PositionSubject;
using positions::SchemeModels;
using positions::SchemeTraits;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<const PositionProperty*> chosen_properties(const std::string& name) {
  std::vector<const PositionProperty*> chosen;
  std::string names;
  for (const PositionProperty& each : positions::catalog()) {
    if (name.empty() || name == each.name) chosen.push_back(&each);
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  if (chosen.empty()) {
    throw InvalidArgument("[check positions] no property is called \"" + name + "\"; there are " +
                          names);
  }
  return chosen;
}

// A name stands for all settings of it that are checked, a text with settings for itself.
std::vector<std::string> chosen_settings(const std::string& scheme) {
  if (scheme.empty()) return position_settings();
  if (scheme.find_first_of("(|:") != std::string::npos) {
    positions::traits_of(scheme);  // refuses what does not fit
    return {scheme};
  }
  position_scheme(scheme);
  std::vector<std::string> chosen;
  for (const std::string& setting : position_settings()) {
    const bool several = setting.find('|') != std::string::npos;
    if (!several && parse_positions(setting).scheme == scheme) chosen.push_back(setting);
  }
  return chosen;
}

std::vector<Tensor> gradients_of(const LanguageModel& model, const View& ids, const View& labels,
                                 const ForwardOptions& how) {
  std::vector<NamedParameter> parameters = model.parameters();
  for (NamedParameter& one : parameters) {
    one.variable.set_requires_grad(true);
    one.variable.clear_grad();
  }
  {
    const WithGrad with_grad;
    backward(cross_entropy(model.forward(ids, how), labels));
  }
  std::vector<Tensor> gradients;
  for (NamedParameter& one : parameters) {
    gradients.push_back(one.variable.grad());
    one.variable.clear_grad();
  }
  return gradients;
}

// Empty functions filled in with the library's.
PositionOperation completed(PositionOperation operation) {
  if (!operation.logits) {
    operation.logits = [](const LanguageModel& model, const View& ids, const ForwardOptions& how) {
      const NoGrad no_grad;
      return model.forward(ids, how).value();
    };
  }
  if (!operation.extend) {
    operation.extend = [](const LanguageModel& model, const View& ids, ModelCache& cache,
                          std::span<const Sequence> sequences, const ExtendOptions& how_much,
                          const ForwardOptions& how) {
      return model.extend(ids, cache, sequences, how_much, how);
    };
  }
  if (!operation.gradients) operation.gradients = gradients_of;
  if (!operation.convert_pairing) operation.convert_pairing = packed_with_pairing;
  return operation;
}

// The error, or infinity and what was thrown.
double measured(const PositionProperty& property, const PositionSubject& subject,
                std::string& note) {
  try {
    const double error = property.error(subject);
    return std::isnan(error) ? kInfinity : error;
  } catch (const Error& thrown) {
    note = thrown.what();
    return kInfinity;
  }
}

/// A scheme with what is made for it once.
struct Scheme {
  SchemeModels models;
  SchemeTraits traits;
};

// One property of one scheme: a row for each control.
void measure(const PositionProperty& property, Scheme& scheme,
             const PositionPropertyOptions& options, const PositionOperation& operation,
             std::vector<PropertyRow>& rows) {
  const int threads = resolve_threads(options.threads);
  const auto subject = [&](const PositionOperation& used) {
    return PositionSubject{used, scheme.models, scheme.traits, options.seed, threads};
  };
  PropertyRow row;
  row.property = property.name;
  row.scheme = scheme.models.scheme();
  row.tolerance = property.tolerance;
  row.error = measured(property, subject(operation), row.note);
  for (const PositionControl& control : property.controls) {
    if (!control.concerns(scheme.traits)) continue;
    PropertyRow with_control = row;
    std::string thrown;
    const PositionOperation twin = control.broken(operation);
    with_control.control = control.name;
    with_control.control_error = measured(property, subject(twin), thrown);
    if (!(row.error <= row.tolerance)) {
      with_control.verdict = PropertyVerdict::fails;
    } else if (with_control.control_error <= row.tolerance ||
               (!thrown.empty() && !control.refuses)) {
      // A twin that throws shows nothing about the measurement, unless that is what it shows.
      with_control.verdict = PropertyVerdict::control_passes;
      with_control.note = thrown;
    }
    rows.push_back(std::move(with_control));
  }
}

}  // namespace

PropertyReport check_positions(const PositionPropertyOptions& options) {
  resolve_threads(options.threads);
  const std::vector<const PositionProperty*> chosen = chosen_properties(options.property);
  std::vector<Scheme> schemes;
  for (const std::string& text : chosen_settings(options.scheme)) {
    schemes.push_back({SchemeModels(text, options.seed), positions::traits_of(text)});
  }
  const PositionOperation operation = completed(options.operation);
  PropertyReport report;
  report.of = "position schemes";
  for (const PositionProperty* property : chosen) {
    if (options.begins) options.begins(property->name);
    for (Scheme& scheme : schemes) {
      if (!property->concerns(scheme.traits)) continue;
      if (options.stopped && options.stopped()) {
        report.complete = false;
        return report;
      }
      measure(*property, scheme, options, operation, report.rows);
    }
  }
  return report;
}

const std::vector<PropertyEntry>& position_properties() {
  static const std::vector<PropertyEntry> kEntries = [] {
    std::vector<PropertyEntry> entries;
    for (const PositionProperty& property : positions::catalog()) {
      PropertyEntry entry{property.name, property.sentence, {}};
      for (const PositionControl& control : property.controls) {
        entry.controls.push_back(control.name);
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }();
  return kEntries;
}

}  // namespace volvelle
