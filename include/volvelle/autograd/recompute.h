#pragma once

#include <functional>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// Runs `function` without a tape and keeps its inputs only; going back runs it once more, with a
/// tape. Gradients have the bits they would have had. The function must give the same for the same
/// inputs (dropout by seed does) and may reach parameters of its own.
/// Source: Chen et al. 2016, arXiv:1604.06174.
VOLVELLE_API Variable
recompute(const std::function<Variable(const std::vector<Variable>&)>& function,
          std::vector<Variable> inputs);

}  // namespace volvelle
