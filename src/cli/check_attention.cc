#include "cli/check_attention.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/exit_code.h"
#include "cli/property_run.h"
#include "volvelle/check/attention_properties.h"

namespace volvelle::cli {
namespace {

struct Options {
  std::optional<std::string> property, path, simd;
  std::optional<std::int64_t> threads, seed;
  bool list = false;
  bool json = false;
};

void declare(CommandLine& line, Options& o) {
  line.group("What (none of these: everything)");
  line.text("--property", o.property, "NAME", "one property; --list names them");
  line.choice("--path", o.path, {"fused", "composed"}, "one path");
  line.text("--simd", o.simd, "NAME",
            "the fused path on one instruction set; `volvelle --version` lists them");
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
  if (o.path == "composed" && o.simd) {
    throw UsageError("--simd chooses the fused path's kernels; leave it out with --path composed");
  }
  if (o.list && (o.path || o.simd || o.threads || o.seed)) {
    throw UsageError("--list measures nothing: it takes --property and --json only");
  }
}

}  // namespace

int run_check_attention(const Invocation& call) {
  Options o;
  CommandLine line(call.verb);
  declare(line, o);
  if (!line.parse(call)) return kDone;
  check(o);
  const std::vector<PropertyEntry> entries = chosen_entries(attention_properties(), o.property);
  if (o.list) return list_properties(call, entries, o.json);

  PropertyOptions how;
  how.property = o.property.value_or("");
  if (o.path) how.path = *o.path == "fused" ? AttentionPath::fused : AttentionPath::composed;
  how.simd = o.simd.value_or("");
  how.threads = static_cast<int>(o.threads.value_or(0));
  how.seed = static_cast<std::uint64_t>(o.seed.value_or(1));
  return run_properties(call, entries.size(), o.json, [&](const PropertyProgress& progress) {
    how.stopped = progress.stopped;
    how.begins = progress.begins;
    return check_attention(how);
  });
}

const char* const kCheckAttentionExamples =
    "volvelle check attention # every property, on every path and instruction set\n"
    "volvelle check attention --list # what each property says, and what its control breaks\n"
    "volvelle check attention --property windows --simd avx2 # one of them, on one route\n"
    "volvelle check attention --seed 7 --json # other numbers, for a program to read";

const char* const kCheckAttentionNotes =
    "\nEach property is measured on this machine: on the fused path once per instruction set, and "
    "on the composed path. The control is the same measurement on a twin that is broken in the one "
    "way that its name says; a check whose control passes would not see that fault, and fails. "
    "Printed are the worst error and the control's smallest over all routes; --json has every "
    "row. Exit 3 when a property FAILS or is "
    "BLIND: its control passes.";

}  // namespace volvelle::cli
