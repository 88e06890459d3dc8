#include "io/npz.h"

#include "fuzz_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace volvelle;
  return fuzz::run([&] {
    const NamedArrays arrays = parse_npz(fuzz::source_of(data, size), {.check_crc = false});
    for (const auto& [name, array] : arrays) fuzz::look_at(array, size, 1032);
  });
}
