#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/oracle.h"
#include "attention/resolved.h"
#include "volvelle/attention/problem.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Where a program with a layout fault puts the row (b, h, t) of the answer that it computed.
enum class RowOrder : unsigned char {
  same,
  swapped,  ///< at (b, t, h): axes swapped in the shape
  bytes,    ///< the rows of (B,T,H) in memory, read as (B,H,T)
};

/// One way to get a problem wrong, ready to be run.
struct FaultCandidate {
  std::string fault;     ///< a name of known_faults()
  std::string sentence;  ///< what to tell the user
  AttentionProblem problem;
  AttentionFault inside = AttentionFault::none;
  RowOrder order = RowOrder::same;
  bool keep_as_bias = false;
  std::vector<Tensor> owned = {};  ///< what views of `problem` point to, if it is not the user's
};

/// Every fault that this problem can have.
std::vector<FaultCandidate> attention_faults(const AttentionProblem& problem,
                                             const ResolvedAttention& resolved);

}  // namespace volvelle
