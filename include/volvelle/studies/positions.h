#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct PositionsStudyOptions {
  std::int64_t tokens = 6;
  std::int64_t width = 8;  ///< of tokens and of the one head, an even number
  std::uint64_t seed = 0;  ///< of the projections and tokens, as torch.manual_seed(seed) draws them
  std::int64_t draws = 30;         ///< further seeds of the projections, from 1 on
  std::int64_t shift = 3;          ///< positions between rows that a rotation takes to each other
  std::int64_t learned_rows = 16;  ///< of the learned table
};

/// Which ways of giving position let attention see order, and what each keeps. For every scheme of
/// the catalog: whether attention of shuffled tokens is shuffled attention, whether its weights
/// are, whether the order of the others reaches a token that stays in its place, and whether a
/// shift of all positions changes nothing; the same with positions added to the values or to the
/// output, and with a causal mask alone. Then the sinusoidal table (rotation by offset, dot
/// products by offset before and after projections, over further draws), the learned table's end,
/// and a clamped bias. The defaults reproduce the document's figures.
/// Throws InvalidArgument: odd widths, sizes out of range.
VOLVELLE_API StudyResult study_positions(const PositionsStudyOptions& options = {},
                                         const StudyRun& run = {});

}  // namespace volvelle
