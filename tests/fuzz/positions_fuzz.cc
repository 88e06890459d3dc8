#include <string>

#include "fuzz_source.h"
#include "volvelle/nn/positions/catalog.h"

// Layers of position schemes: what is read says the same after the way through text, and what is
// made of it is made or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace volvelle;
  const std::string text(reinterpret_cast<const char*>(data), size);
  return fuzz::run([&] {
    for (const PositionText& layer : positions_by_layer(text, 8)) {
      const std::string written = to_text(layer);
      if (to_text(parse_positions(written)) != written) std::abort();
      make_positions(layer, {.width = 16, .heads = 2});
    }
  });
}
