#include "fuzz_source.h"
#include "io/json_arrays.h"

// The first byte says whether an object of arrays or one array is wanted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace volvelle;
  if (size == 0) return 0;
  const Source source = fuzz::source_of(data + 1, size - 1);
  return fuzz::run([&] {
    if (data[0] == '1') {
      fuzz::look_at(parse_json_array(source), size, 8);
    } else {
      for (const auto& [name, array] : parse_json_arrays(source)) fuzz::look_at(array, size, 8);
    }
  });
}
