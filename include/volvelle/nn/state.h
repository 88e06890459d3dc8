#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/nn/module.h"
#include "volvelle/tensor/named_array.h"

namespace volvelle {

/// Every parameter under its name, in order, over the bytes that it holds: for `write_arrays`.
/// Tied ones are there once.
VOLVELLE_API NamedArrays state_of(const Module& module);

/// What a parameter becomes of the array with its name.
enum class StateUse : std::uint8_t {
  copy,  ///< its own numbers, converted to its dtype
  view,  ///< the array's bytes, read-only: of a mapped file, say. The dtype must be the parameter's
};

/// Gives every parameter the array of its name. A second name of a tied parameter may be there as
/// well, if it holds the same numbers as the first; alone it serves for both.
/// Throws: InvalidArgument that lists every parameter without an array, every array without a
///         parameter, every shape and dtype that does not fit, and second names that differ from
///         the first. Nothing is changed then.
VOLVELLE_API void load_state(Module& module, const NamedArrays& arrays,
                             StateUse use = StateUse::copy);

}  // namespace volvelle
