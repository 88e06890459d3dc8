#include "io/csv.h"

#include <string>

#include "fuzz_source.h"

// The first byte says whether the rest is a CSV file or an inline array.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace volvelle;
  if (size == 0) return 0;
  return fuzz::run([&] {
    if (data[0] == 'i') {
      const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
      fuzz::look_at(parse_inline(text), size, 8);
    } else {
      fuzz::look_at(parse_csv(fuzz::source_of(data + 1, size - 1)), size, 8);
    }
  });
}
