#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Recall at a distance: a sequence begins with a statement for every name (the name and its value
/// in one token), in random order; then come fillers that say nothing, and among them, once in
/// `pause` times, a name as a question, whose value is the label. No answer is ever shown, so the
/// value of a question at place t stands between t - names + 1 and t tokens away. Order is of no
/// use: what is tested is whether a model still finds by content what stands so far away.
///
/// Tokens: fillers, then statements (name * values + value), then questions by name, then values
/// (as labels only).
struct DistantRecallOptions {
  std::int64_t fillers = 16;
  std::int64_t names = 8;
  std::int64_t values = 4;
  std::int64_t pause = 4;
  std::int64_t tokens = 64;  ///< of a sequence, more than names
  std::int64_t batch = 16;
  std::uint64_t seed = 0;
};

struct DistantRecallBatch {
  Tensor ids;     ///< (batch, tokens) int64
  Tensor labels;  ///< (batch, tokens) int64: the value's token at a question, else -100
};

/// fillers + names * values + names + values.
VOLVELLE_API std::int64_t distant_recall_vocabulary(const DistantRecallOptions& options);

/// Batch number `index`, counted from 0: a function of seed and index (Philox4x32-10); sequences of
/// more tokens begin with those of fewer.
/// Throws InvalidArgument: counts below 1 (below 2 values), no more tokens than names.
VOLVELLE_API DistantRecallBatch distant_recall_batch(const DistantRecallOptions& options,
                                                     std::int64_t index);

}  // namespace volvelle
