#pragma once

#include "volvelle/autograd/tape.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Gives back the gradients of x, weight and bias (inputs 0, 1, 2) of a norm over rows. Sums over
/// rows go by blocks of rows, the blocks in order, whatever the number of threads.
struct NormBackward {
  const char* operation;
  Saved x;
  Saved weight;
  Tensor statistics;
  double weight_offset;
  int threads;  ///< as asked for  ///< as asked for
  bool centred;

  void operator()(GradientPass& pass) const;
};

}  // namespace volvelle
