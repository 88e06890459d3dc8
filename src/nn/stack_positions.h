#pragma once

#include <memory>
#include <vector>

#include "volvelle/nn/positions/catalog.h"
#include "volvelle/nn/stack.h"

namespace volvelle {

/// How one layer of a stack is told positions.
struct LayerPositions {
  std::shared_ptr<PositionScheme> scheme;  ///< absent: not at all
  bool first = true;                       ///< no layer before it has the same instance
};

/// The model that the schemes of a stack are to serve.
PositionContext position_context(const StackOptions& options);

/// One for each layer, by `options.positions`. Throws InvalidArgument for schemes that are added to
/// the token vectors.
std::vector<LayerPositions> make_stack_positions(const StackOptions& options);

}  // namespace volvelle
