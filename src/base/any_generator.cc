#include "volvelle/base/any_generator.h"

#include <string>
#include <vector>

#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"

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

RandomStream random_stream_named(std::string_view name) {
  std::vector<std::string> names;
  for (const RandomStream stream :
       {RandomStream::torch, RandomStream::numpy, RandomStream::philox}) {
    if (name == name_of(stream)) return stream;
    names.emplace_back(name_of(stream));
  }
  throw InvalidArgument("[random] no stream of random numbers is called '" + std::string(name) +
                        "'; there are torch, numpy and philox" + suggestion(name, names));
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
