#include "cli/study_path_factors.h"

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/path_factors.h"

namespace volvelle::cli {

int run_study_path_factors(const Invocation& call) {
  std::optional<std::int64_t> layers;
  std::optional<std::string> factors;
  StudyOptions how;
  CommandLine line(call.verb);
  line.group("What");
  line.integer("--layers", layers, "L", "layers that the gradient walks back through (24)");
  line.text("--factor", factors, "X,...", "what each layer multiplies by (0.9,1.02,0.98)");
  how.declare(line);
  if (!line.parse(call)) return kDone;
  PathFactorsOptions options;
  if (layers) options.layers = *layers;
  if (factors) options.factors = numbers_of("--factor", *factors);
  return run_study(call, how,
                   [&](const StudyRun& run) { return study_path_factors(options, run); });
}

const char* const kStudyPathFactorsExamples =
    "volvelle study path-factors # 24 layers of 0.9, 1.02 and 0.98\n"
    "volvelle study path-factors --layers 96 --factor 0.99,1,1.01 # deeper, closer to 1";

const char* const kStudyPathFactorsNotes =
    "\nThe factor of a layer on a path: 0.9 stands for a norm that shrinks, 1.02 and 0.98 for an "
    "untouched copy (1) plus or minus a branch's 0.02.";

}  // namespace volvelle::cli
