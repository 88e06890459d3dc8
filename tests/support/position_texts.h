#pragma once

#include <vector>

#include "volvelle/nn/language_model.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle::testing {

/// A way of giving position, as a model is told it.
struct PositionCase {
  const char* text;
  bool relative;  ///< shifts of all positions change nothing
};

/// Every scheme of the catalog, with settings that act on the few tokens of a test.
inline std::vector<PositionCase> position_cases() {
  return {
      {"none", true},
      {"sinusoidal(base=50)", false},
      {"learned(rows=64)", false},
      {"rotary(base=20)", true},
      {"rotary(base=20, pairing=interleaved, partial=4)", true},
      {"rotary(base=20, scaling=yarn, factor=4, original=8)", true},
      {"rotary(base=20, scaling=dynamic, factor=4, original=64)", true},
      {"rotary(base=20, scaling=longrope, original=64, max=256, short=[1 1 2 1], long=[4 4 4 4])",
       true},
      {"xpos(base=20)", true},
      {"alibi", true},
      {"t5(buckets=8, max=12)", true},
      {"clamped(max=5)", true},
      {"relative(max=5)", true},
      {"relative(max=5, queries=yes, values=yes, shared=no)", true},
      {"(1: rotary(base=20) | none)", true},
      {"(1: alibi | clamped(max=3))", true},
  };
}

/// Two layers of width 16 with 2 heads and 11 words.
inline LanguageModelOptions model_with(const char* positions, std::int64_t layers = 2) {
  return {.stack = {.layers = layers,
                    .width = 16,
                    .heads = 2,
                    .feed_forward = 24,
                    .activation = Activation::gelu_tanh,
                    .causal = true},
          .vocabulary = 11,
          .positions = positions};
}

}  // namespace volvelle::testing
