#include "cli/property_run.h"

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/check/property_report.h"

namespace volvelle::cli {

std::vector<PropertyEntry> chosen_entries(const std::vector<PropertyEntry>& all,
                                          const std::optional<std::string>& name) {
  if (!name) return all;
  std::vector<std::string> names;
  for (const PropertyEntry& entry : all) {
    if (entry.name == *name) return {entry};
    names.push_back(entry.name);
  }
  throw UsageError("no property is called '" + *name + "'" + suggestion(*name, names) +
                   "; --list names them");
}

int list_properties(const Invocation& call, const std::vector<PropertyEntry>& entries, bool json) {
  if (json) {
    write_property_list_json(call.out, entries);
  } else {
    call.out << property_list_text(entries);
  }
  return kDone;
}

int run_properties(const Invocation& call, std::size_t properties, bool json,
                   const std::function<PropertyReport(const PropertyProgress&)>& measure) {
  const InterruptsHeld held;
  std::size_t begun = 0;
  const PropertyReport report = measure({
      .stopped = [] { return InterruptsHeld::pending(); },
      .begins =
          [&](const std::string& property) {
            call.remarks << '[' << ++begun << '/' << properties << "] " << property << std::endl;
          },
  });
  if (json) {
    write_property_json(call.out, report);
  } else {
    call.out << property_text(report);
  }
  call.out.flush();
  return report.holds() ? kDone : kCheckFailed;
}

}  // namespace volvelle::cli
