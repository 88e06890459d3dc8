// A layer of a language model as it lies in memory: queries (B,T,H,D), keys and values (B,S,G,D),
// fewer key heads than query heads, a causal window. Views turn the axes, nothing is copied, and
// the answer goes straight into the caller's own (B,T,H,E) array.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "volvelle/attention/attend.h"

namespace {

// (B,T,H,D) memory read as (B,H,T,D).
volvelle::Strides heads_inside(std::int64_t tokens, std::int64_t heads, std::int64_t width) {
  return {tokens * heads * width, width, heads * width, 1};
}

std::vector<float> ramp(std::size_t size, std::int64_t period) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = static_cast<float>(static_cast<std::int64_t>(i) % period) / 10.0f - 0.5f;
  }
  return values;
}

}  // namespace

int main() {
  constexpr std::int64_t B = 2, T = 300, H = 8, G = 2, D = 32;
  const std::vector<float> q = ramp(B * T * H * D, 11);
  const std::vector<float> k = ramp(B * T * G * D, 13);
  const std::vector<float> v = ramp(B * T * G * D, 7);
  std::vector<float> output(B * T * H * D);

  const volvelle::AttentionProblem problem{
      .q = {q.data(), {B, H, T, D}, heads_inside(T, H, D)},
      .k = {k.data(), {B, G, T, D}, heads_inside(T, G, D)},
      .v = {v.data(), {B, G, T, D}, heads_inside(T, G, D)},
      .causal = true,
      .window = 64,
  };
  volvelle::attend(problem, {.output = {output.data(), {B, H, T, D}, heads_inside(T, H, D)}});

  // The first token of a row sees itself alone: its output is the value of its key head.
  bool first_is_own_value = true;
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t h = 0; h < H; ++h) {
      for (std::int64_t e = 0; e < D; ++e) {
        const float own = v[static_cast<std::size_t>((b * T * G + h / (H / G)) * D + e)];
        const float got = output[static_cast<std::size_t>((b * T * H + h) * D + e)];
        first_is_own_value = first_is_own_value && own == got;
      }
    }
  }
  std::printf("first token reads its own value: %s\n", first_is_own_value ? "yes" : "no");
  return first_is_own_value ? 0 : 1;
}
