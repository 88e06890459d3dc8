#include "cli/tour.h"

#include <array>

#include "cli/command_line.h"
#include "cli/exit_code.h"
#include "cli/tour_parts.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/suggestion.h"

namespace volvelle::cli {
namespace {

const std::array kParts{
    TourPart{"attention", "attention by hand", attention_tour},
    TourPart{"norms", "where to put the norm", norms_tour},
    TourPart{"sinusoidal", "sinusoidal positions", sinusoidal_tour},
    TourPart{"positions", "position schemes compared", positions_tour},
    TourPart{"rotary", "causal attention with rotary positions", rotary_tour},
};

std::string part_names() {
  std::string names;
  for (const TourPart& part : tour_parts())
    names += (names.empty() ? "" : ", ") + std::string(part.name);
  return names;
}

}  // namespace

std::span<const TourPart> tour_parts() { return kParts; }

int run_tour(const Invocation& call) {
  std::optional<std::string> wanted, simd;
  std::optional<std::int64_t> threads, digits;
  CommandLine line(call.verb);
  line.positional("PART", wanted, "one of: " + part_names() + " (all of them)");
  line.text("--simd", simd, "NAME", "instruction set; `volvelle --version` lists them");
  line.integer("--threads", threads, "N", "at most N threads (all CPUs)");
  line.integer("--digits", digits, "N", "digits behind the point (4; what suits each figure)");
  if (!line.parse(call)) return kDone;
  if (threads && (*threads < 1 || *threads > 1024)) throw UsageError("--threads takes 1 to 1024");
  if (digits && (*digits < 0 || *digits > 17)) throw UsageError("--digits takes 0 to 17");
  if (simd) set_simd_target(*simd);

  const std::optional<int> given = digits ? std::optional(static_cast<int>(*digits)) : std::nullopt;
  int shown = 0;
  std::vector<std::string> names;
  for (const TourPart& part : tour_parts()) {
    names.push_back(part.name);
    if (wanted && *wanted != part.name) continue;
    const std::string title = std::string("Tour: ") + part.title;
    if (shown++ > 0) call.out << "\n\n";
    call.out << title << '\n'
             << std::string(title.size(), '=') << "\n\n"
             << part.text({.digits = given, .threads = static_cast<int>(threads.value_or(0))});
  }
  if (shown == 0) {
    throw UsageError("the tour has no part '" + *wanted + "'" + suggestion(*wanted, names) +
                     " (parts: " + part_names() + ")");
  }
  return kDone;
}

const char* const kTourExamples =
    "volvelle tour # everything\n"
    "volvelle tour attention # one part\n"
    "volvelle tour norms # pre-LN against post-LN\n"
    "volvelle tour rotary # from two numbers to the layer, and what it costs\n"
    "volvelle tour attention --digits 8 # more digits\n";

}  // namespace volvelle::cli
