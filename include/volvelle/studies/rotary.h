#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct RotaryStudyOptions {
  std::int64_t width = 32;
  std::int64_t heads = 4;  ///< of an even width each
  std::int64_t tokens = 12;
  std::int64_t batch = 2;
  std::uint64_t seed = 0;  ///< as torch.manual_seed(seed)
  double base = 10000;
};

/// Causal attention with rotary positions, from the rotation of two numbers by hand to the layer:
/// the half-turn formula beside the matrix, frequencies, CausalSelfAttention beside a literal loop
/// in double, scores by offset, causality, and what each known mistake breaks (values turned, rates
/// of the model's width, pairings mixed, turned before heads are split, mask forgotten or after the
/// softmax, diagonal masked). The defaults reproduce the document's figures.
/// Throws InvalidArgument: sizes out of range, heads that do not divide the width, heads of odd
/// width, a base of 1 or less.
/// Source:  Su et al. 2021, arXiv:2104.09864.
VOLVELLE_API StudyResult study_rotary(const RotaryStudyOptions& options = {},
                                      const StudyRun& run = {});

}  // namespace volvelle
