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

/// What a fault does to the mask of a row.
enum class MaskChange : unsigned char {
  none,
  keep_added,  ///< `keep` becomes an additive bias of its numbers
  inverted,    ///< all of the exclusion is turned round
};

/// What a program gives for a row that sees no key.
enum class EmptyRow : unsigned char { zero, nan, mean_of_values };

/// One way to get a problem wrong, ready to be run.
struct FaultCandidate {
  std::string fault;     ///< a name of known_faults()
  std::string sentence;  ///< what to tell the user
  AttentionProblem problem;
  AttentionFault inside = AttentionFault::none;
  RowOrder order = RowOrder::same;
  MaskChange mask = MaskChange::none;
  EmptyRow empty = EmptyRow::zero;
  std::vector<Tensor> owned = {};  ///< what views of `problem` point to, if it is not the user's
};

/// Every fault that this problem can have.
std::vector<FaultCandidate> attention_faults(const AttentionProblem& problem,
                                             const ResolvedAttention& resolved);

}  // namespace volvelle
