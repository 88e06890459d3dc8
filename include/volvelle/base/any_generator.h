#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "volvelle/base/export.h"
#include "volvelle/base/numpy_generator.h"
#include "volvelle/base/philox_stream.h"
#include "volvelle/base/torch_generator.h"

namespace volvelle {

/// Which generator random numbers come from.
enum class RandomStream : std::uint8_t {
  torch,   ///< torch.manual_seed
  numpy,   ///< numpy.random.default_rng
  philox,  ///< no reference; places can be drawn independently of each other
};

/// "torch", "numpy", "philox".
VOLVELLE_API std::string_view name_of(RandomStream stream) noexcept;
/// The other way. Throws InvalidArgument for other names, with a suggestion.
VOLVELLE_API RandomStream random_stream_named(std::string_view name);

/// One of the three, all of which have `uniform`, `normal` and `integers`; a copy goes on from here
/// on its own.
using AnyGenerator = std::variant<TorchGenerator, NumpyGenerator, PhiloxStream>;

VOLVELLE_API AnyGenerator make_generator(RandomStream stream, std::uint64_t seed);

}  // namespace volvelle
