#include "io/safetensors.h"

#include "fuzz_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace volvelle;
  return fuzz::run([&] {
    const NamedArrays arrays = parse_safetensors(fuzz::source_of(data, size));
    for (const auto& [name, array] : arrays) fuzz::look_at(array, size, 1);
  });
}
