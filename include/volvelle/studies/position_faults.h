#pragma once

#include <cstdint>
#include <string>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct PositionFaultsOptions {
  std::string scheme = "rotary";  ///< by name or with settings (nn/positions/catalog.h)
  std::int64_t tokens = 64;       ///< of a sequence
  std::int64_t steps = 1000;
  double rate = 3e-3;
  std::int64_t seeds = 3;  ///< networks
  std::uint64_t seed = 0;  ///< the first
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t layers = 2;
  std::int64_t batch = 16;
  std::int64_t test_rows = 48;
};

/// Trains small causal language models on the generated language (training/language_task.h), then
/// runs them again with one mistake at a time in how positions are used, as somebody makes it who
/// ports a model or writes a decoding loop: what each costs, and which cost nothing. The same
/// mistakes are the controls of `check attention` and `check positions`. The control here are
/// networks that were not trained, on which no mistake may cost anything.
/// Throws: InvalidArgument for options out of range, an unknown scheme (with a suggestion), one
/// that
///         does not fit the sizes or has fewer positions than tokens.
VOLVELLE_API StudyResult study_position_faults(const PositionFaultsOptions& options = {},
                                               const StudyRun& run = {});

}  // namespace volvelle
