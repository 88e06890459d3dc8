#include "cli/check_positions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/exit_code.h"
#include "cli/property_run.h"
#include "volvelle/check/position_properties.h"

namespace volvelle::cli {
namespace {

struct Options {
  std::optional<std::string> property, scheme;
  std::optional<std::int64_t> threads, seed;
  bool list = false;
  bool json = false;
};

void declare(CommandLine& line, Options& o) {
  line.group("What (none of these: everything)");
  line.text("--property", o.property, "NAME", "one property; --list names them");
  line.text("--scheme", o.scheme, "NAME|TEXT",
            "one scheme of `volvelle schemes` in every setting that is checked, or, as in "
            "\"rotary(base=500)\", the setting given");
  line.group("How");
  line.integer("--threads", o.threads, "N", "at most N threads (all CPUs)");
  line.integer("--seed", o.seed, "N", "of the random numbers (1)");
  line.flag("--list", o.list, "say what each property means, and measure nothing");
  line.flag("--json", o.json, "one JSON document on stdout");
}

void check(const Options& o) {
  if (o.threads && (*o.threads < 1 || *o.threads > 1024)) {
    throw UsageError("--threads takes 1 to 1024");
  }
  if (o.seed && *o.seed < 0) throw UsageError("--seed must not be negative");
  if (o.list && (o.scheme || o.threads || o.seed)) {
    throw UsageError("--list measures nothing: it takes --property and --json only");
  }
}

}  // namespace

int run_check_positions(const Invocation& call) {
  Options o;
  CommandLine line(call.verb);
  declare(line, o);
  if (!line.parse(call)) return kDone;
  check(o);
  const std::vector<PropertyEntry> entries = chosen_entries(position_properties(), o.property);
  if (o.list) return list_properties(call, entries, o.json);

  PositionPropertyOptions how;
  how.property = o.property.value_or("");
  how.scheme = o.scheme.value_or("");
  how.threads = static_cast<int>(o.threads.value_or(0));
  how.seed = static_cast<std::uint64_t>(o.seed.value_or(1));
  return run_properties(call, entries.size(), o.json, [&](const PropertyProgress& progress) {
    how.stopped = progress.stopped;
    how.begins = progress.begins;
    return check_positions(how);
  });
}

const char* const kCheckPositionsExamples =
    "volvelle check positions # every property of every scheme, in seconds\n"
    "volvelle check positions --list # what each property says, and what its controls break\n"
    "volvelle check positions --scheme alibi # one scheme\n"
    "volvelle check positions --scheme \"rotary(scaling=yarn, factor=8, original=32)\" --json "
    "# settings of your own, for a program to read";

const char* const kCheckPositionsNotes =
    "\nEach property is measured in a small model for each scheme and setting. The control is the "
    "same measurement on a twin that is broken in the one way that its name says; a check whose "
    "control passes would not see that fault, and fails. Printed are the worst error and the "
    "control's smallest over all schemes; --json has every row. Exit 3 when a property FAILS or is "
    "BLIND: its control passes.";

}  // namespace volvelle::cli
