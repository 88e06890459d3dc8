#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// A task for small stacks. Each of the first tokens of a sequence is a pair of a key and a value
/// in one token; the last is a key alone, and its value is the label. Attention solves it by
/// content: no token needs its position or its neighbour. Keys of a sequence differ, and its values
/// are dealt evenly, so where `pairs` is a multiple of `values` nothing but the pair of the queried
/// key tells better than the uniform guess.
struct RecallOptions {
  std::int64_t keys = 8;    ///< there are
  std::int64_t values = 4;  ///< there are: the classes of the label
  std::int64_t pairs = 8;   ///< in a sequence, at most `keys`
  std::int64_t batch = 16;
  std::uint64_t seed = 0;
  /// Labels are drawn apart from the sequences: what cannot be learned, for a control.
  bool shuffled = false;
};

struct RecallBatch {
  Tensor ids;     ///< (batch, pairs + 1) int64: key * values + value, last keys * values + key
  Tensor labels;  ///< (batch, pairs + 1) int64: the value at the query, -100 elsewhere
};

/// keys * values + keys.
VOLVELLE_API std::int64_t recall_vocabulary(const RecallOptions& options);

/// The loss of whoever does not look: log(values).
VOLVELLE_API double recall_guess(const RecallOptions& options);

/// Batch number `index`, counted from 0: a function of seed and index (Philox4x32-10), whatever was
/// drawn before. Throws InvalidArgument: counts below 1 (below 2 values), more pairs than keys.
VOLVELLE_API RecallBatch recall_batch(const RecallOptions& options, std::int64_t index);

}  // namespace volvelle
