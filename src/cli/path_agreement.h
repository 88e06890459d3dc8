#pragma once

#include <optional>
#include <string>

#include "volvelle/attention/problem.h"

namespace volvelle::cli {

/// How far the paths' outputs lie from the oracle's, and how far rounding may put them.
struct PathAgreement {
  std::optional<double> fused;  ///< largest difference; absent: the path cannot take the problem
  std::string reason;           ///< then why
  double composed = 0;          ///< largest difference
  double tolerance = 0;
};

/// Runs all three. For small problems: each is computed anew.
PathAgreement path_agreement(const AttentionProblem& problem, int threads);

/// "Fused equals oracle: yes, ..." as a paragraph.
std::string agreement_text(const PathAgreement& agreement, DType dtype);

}  // namespace volvelle::cli
