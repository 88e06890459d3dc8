#include "io/npy.h"

#include "fuzz_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace volvelle;
  return fuzz::run([&] { fuzz::look_at(parse_npy(fuzz::source_of(data, size)), size, 1); });
}
