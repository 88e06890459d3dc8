#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// A task that is about order and nothing else: two marks stand somewhere among fillers, and the
/// last token asks which came first. Rows come in twins: an odd row is the even one before it with
/// the marks exchanged, so it holds the same tokens and has the other label. Whoever does not see
/// order says the same of both, and is right exactly once.
struct OrderOptions {
  std::int64_t fillers = 8;
  std::int64_t tokens = 12;  ///< of a sequence, with the question
  std::int64_t batch = 32;   ///< an even number
  std::uint64_t seed = 0;
};

/// Tokens: fillers, the two marks, the question.
struct OrderBatch {
  Tensor ids;     ///< (batch, tokens) int64
  Tensor labels;  ///< (batch, tokens) int64: at the question the mark that came first, else -100
};

/// fillers + 3.
VOLVELLE_API std::int64_t order_vocabulary(const OrderOptions& options);

/// Batch number `index`, counted from 0: a function of seed and index (Philox4x32-10).
/// Throws InvalidArgument: no fillers, fewer than 3 tokens, an odd batch.
VOLVELLE_API OrderBatch order_batch(const OrderOptions& options, std::int64_t index);

}  // namespace volvelle
