#include "volvelle/base/any_generator.h"

namespace volvelle {

std::string_view name_of(RandomStream stream) noexcept {
  switch (stream) {
    case RandomStream::torch:
      return "torch";
    case RandomStream::numpy:
      return "numpy";
    case RandomStream::philox:
      return "philox";
  }
  return "?";
}

AnyGenerator make_generator(RandomStream stream, std::uint64_t seed) {
  switch (stream) {
    case RandomStream::numpy:
      return NumpyGenerator(seed);
    case RandomStream::philox:
      return PhiloxStream(seed);
    case RandomStream::torch:
      break;
  }
  return TorchGenerator(seed);
}

}  // namespace volvelle
