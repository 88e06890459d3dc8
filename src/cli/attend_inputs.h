#pragma once

#include <string>
#include <vector>

#include "cli/attend_options.h"
#include "volvelle/attention/problem.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::cli {

/// Order of the axes of q, k, v and of the output.
enum class Layout : unsigned char { bhtd, bthd };

/// A problem made from the command line, and what it stands on.
struct AttendInputs {
  AttentionProblem problem;
  View grad_output;           ///< on the problem's axes; absent without --backward
  std::vector<Tensor> owned;  ///< the memory of these views
  std::string source;         ///< "points.npz", "the embedded example"
  Layout layout = Layout::bhtd;
  std::string positions;             ///< how attention is told them, in words; empty: not at all
  std::vector<std::string> remarks;  ///< for stderr
};

/// The document's example: two tokens, d_k = 2.
AttendInputs embedded_example(DType dtype);

/// Reads files, applies options. Throws UsageError for contradictions and what the library throws
/// for files; shapes and values are checked by `attend`.
AttendInputs gather(const AttendOptions& options);

}  // namespace volvelle::cli
