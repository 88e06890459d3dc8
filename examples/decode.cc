// Decoding with a key/value cache: a prompt, then one token at a time; a second sequence forks off
// and shares the prompt's pages. Each step gives what attention over the whole sequence gives.
#include <cmath>
#include <cstdio>
#include <vector>

#include "volvelle/attention/key_value_cache.h"

namespace {

constexpr std::int64_t H = 4, G = 2, D = 16, kPrompt = 300, kSteps = 5;
constexpr std::int64_t kTokens = kPrompt + kSteps;

// (heads, kTokens, D), and a view of tokens [first, first + count) of it.
std::vector<float> tokens_of(std::int64_t heads, float phase) {
  std::vector<float> all(static_cast<std::size_t>(heads * kTokens * D));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::sin(phase * static_cast<float>(i));
  return all;
}
volvelle::View part(const std::vector<float>& all, std::int64_t heads, std::int64_t first,
                    std::int64_t count) {
  return {all.data() + first * D, {heads, count, D}, {kTokens * D, D, 1}};
}

}  // namespace

int main() {
  const std::vector<float> q = tokens_of(H, 0.7f), k = tokens_of(G, 0.3f), v = tokens_of(G, 0.5f);
  volvelle::KeyValueCache cache({.key_heads = G, .head_width = D, .capacity = 1024});
  const volvelle::Sequence sequence = cache.add();
  cache.append(sequence, part(k, G, 0, kPrompt), part(v, G, 0, kPrompt));
  const volvelle::Sequence other = cache.fork(sequence);  // shares what is there so far

  const volvelle::AttentionResult whole = volvelle::attend({.q = part(q, H, 0, kTokens),
                                                            .k = part(k, G, 0, kTokens),
                                                            .v = part(v, G, 0, kTokens),
                                                            .causal = true});
  double farthest = 0;
  for (std::int64_t step = kPrompt; step < kTokens; ++step) {
    cache.append(sequence, part(k, G, step, 1), part(v, G, step, 1));
    const volvelle::AttentionResult one =
        volvelle::attend({.q = part(q, H, step, 1), .causal = true}, cache, {&sequence, 1});
    for (std::int64_t h = 0; h < H; ++h) {
      for (std::int64_t e = 0; e < D; ++e) {
        const float full = whole.output.data<float>()[(h * kTokens + step) * D + e];
        farthest = std::fmax(farthest, std::fabs(one.output.data<float>()[h * D + e] - full));
      }
    }
  }
  const bool same = farthest < 1e-5;
  std::printf("step by step equals the full pass: %s\n", same ? "yes" : "no");
  std::printf(
      "tokens: %lld and %lld, pages in use: %lld\n", static_cast<long long>(cache.length(sequence)),
      static_cast<long long>(cache.length(other)), static_cast<long long>(cache.usage().pages));
  return same ? 0 : 1;
}
