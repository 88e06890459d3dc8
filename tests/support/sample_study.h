#pragma once

#include "volvelle/report/study_result.h"

namespace volvelle::testing {

/// A study with one of everything that renderers have to show.
StudyResult sample_study();

}  // namespace volvelle::testing
