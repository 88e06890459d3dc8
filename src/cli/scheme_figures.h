#pragma once

#include <cstdint>

#include "volvelle/nn/positions/catalog.h"
#include "volvelle/report/study_result.h"

namespace volvelle::cli {

/// A scheme on the caller's model.
struct SchemeCase {
  PositionText text;
  PositionContext context;  ///< every number filled in
  std::int64_t length = 0;  ///< of the text that it is shown for
};

/// The tables and charts of a scheme that has any: frequencies, slopes, buckets.
void add_figures(const SchemeCase& scheme, StudyResult& sheet);

// One of each way of giving position.
void add_rotary_figures(const SchemeCase& scheme, StudyResult& sheet);
void add_sinusoidal_figures(const SchemeCase& scheme, StudyResult& sheet);
void add_alibi_figures(const SchemeCase& scheme, StudyResult& sheet);
void add_bucket_figures(const SchemeCase& scheme, StudyResult& sheet);

}  // namespace volvelle::cli
