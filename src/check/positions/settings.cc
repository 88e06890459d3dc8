#include "volvelle/check/position_properties.h"

namespace volvelle {

// A scheme's settings that take another road through the code: pairings, widths, each scaling, both
// directions, slopes that learn. Lengths are such that scalings by length stand still while a text
// grows: what a scheme that changes with the length owes to a cache is not equality.
const std::vector<std::string>& position_settings() {
  static const std::vector<std::string> kSettings{
      "none",
      "sinusoidal",
      "sinusoidal(layout=concatenated)",
      "sinusoidal(kind=fairseq, offset=2)",
      "learned(rows=300)",
      "rotary",
      "rotary(pairing=interleaved)",
      "rotary(partial=0.5)",
      "rotary(base=500, pairing=interleaved, partial=6)",
      "rotary(scaling=linear, factor=4)",
      "rotary(scaling=ntk, factor=4)",
      "rotary(scaling=dynamic, factor=4, original=128)",
      "rotary(scaling=yarn, factor=4, original=16)",
      "rotary(scaling=llama3, factor=8, low=1, high=4, original=64)",
      "rotary(scaling=longrope, original=128, max=512, short=[1, 1.1, 1.2, 1.3], "
      "long=[1, 2, 4, 8])",
      "rotary(scaling=proportional, partial=0.5)",
      "xpos",
      "alibi",
      "alibi(learned=yes)",
      "t5(buckets=8, max=16)",
      "t5(buckets=8, max=16, direction=two-way)",
      "clamped(max=4)",
      "relative(max=4)",
      "relative(max=4, queries=yes, values=yes, shared=no)",
      "rotary | none",
  };
  return kSettings;
}

}  // namespace volvelle
