#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  ///< rows with this label count for nothing
  double label_smoothing = 0;        ///< in [0, 1): that share goes to all classes alike
  /// Divides the sum; 0: the number of counted labels. A shard of a batch gives the whole batch's.
  std::int64_t count = 0;
  int threads = 0;
};

/// Mean over the counted labels of -log softmax(logits)[label]: a float32 scalar (float64 for
/// float64), summed in row order. Going back turns the saved logits into their gradient in place
/// where they are an operator's result that nobody else holds by then; else they stay as they are.
/// All ignored: loss 0, gradients 0. A NaN among the logits of a counted row makes the loss and
/// that row's gradient NaN. Smoothing as Szegedy et al. 2016, arXiv:1512.00567.
///
/// Shapes:  logits (..., V), labels (...) integers in [0, V) or ignore_index.
/// Throws:  InvalidArgument (a label outside, named with its place; shapes; options).
VOLVELLE_API Variable cross_entropy(const Variable& logits, const View& labels,
                                    const CrossEntropyOptions& options = {});

/// How many labels count.
VOLVELLE_API std::int64_t counted_labels(const View& labels, std::int64_t ignore_index = -100);

}  // namespace volvelle
