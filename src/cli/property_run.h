#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "volvelle/check/attention_properties.h"

namespace volvelle::cli {

/// The entry of that name, or all of them without one. Throws UsageError for an unknown name, with
/// a suggestion.
std::vector<PropertyEntry> chosen_entries(const std::vector<PropertyEntry>& all,
                                          const std::optional<std::string>& name);

/// What --list prints; the exit code.
int list_properties(const Invocation& call, const std::vector<PropertyEntry>& entries, bool json);

/// What a check's options are told while it runs.
struct PropertyProgress {
  std::function<bool()> stopped;
  std::function<void(const std::string& property)> begins;
};

/// Measures, with a line on stderr as each property begins; an interrupt waits until what was
/// measured is printed. Gives the exit code.
int run_properties(const Invocation& call, std::size_t properties, bool json,
                   const std::function<PropertyReport(const PropertyProgress&)>& measure);

}  // namespace volvelle::cli
