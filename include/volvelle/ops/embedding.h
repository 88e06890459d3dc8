#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Rows of a table: y[...] = table[ids[...]]. Gradients of a row met several times are added in the
/// order of the tokens.
///
/// Shapes:  ids (...) integers in [0, V), table (V,C), y (..., C).
/// Throws:  InvalidArgument (an id outside the table, named with its place; dtypes; rank).
VOLVELLE_API Variable embedding(const View& ids, const Variable& table);

}  // namespace volvelle
