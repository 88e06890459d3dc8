#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "attention/resolved.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Tables of turns that a faulty program might have had, float64.
struct MadeTables {
  Tensor cosines, sines;
};

/// Plain turns by p * frequency(i), for positions [0, length).
MadeTables tables_of(std::int64_t length, std::int64_t pairs,
                     const std::function<double(std::int64_t)>& frequency);

/// Row p of the result is row p + shift of the table; rows before the first and behind the last
/// carry the step between neighbours on. (P, r/2) or (B, P, r/2), as `cosines` is.
MadeTables shifted(const View& cosines, const View& sines, std::int64_t shift);

/// The base b where row 1 of the table turns by b^(-2i/r); none where it does not (scaled
/// frequencies, or no plain turns).
std::optional<double> base_of(const View& cosines, const View& sines);

}  // namespace volvelle
