#pragma once

#include <functional>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// Runs `function` without a tape; going back runs it once more, with one, which is followed and
/// freed at once. Gradients have the bits they would have had, the order of every sum included.
/// The function must give the same for the same inputs (dropout by seed does). It may reach
/// parameters of its own, recompute parts of itself and turn gradients off inside; results that it
/// did not make must be handed over as inputs.
///
/// Memory:  from the forward to the backward pass the inputs and the result; on the way back the
///          tape of one such function at a time.
/// Throws:  on the way back InvalidArgument where inputs, or parameters that it reached, were
///          changed in place since, where it reaches a result made outside, and where its result
///          has another shape the second time.
/// Source: Chen et al. 2016, arXiv:1604.06174.
VOLVELLE_API Variable
recompute(const std::function<Variable(const std::vector<Variable>&)>& function,
          std::vector<Variable> inputs);

}  // namespace volvelle
