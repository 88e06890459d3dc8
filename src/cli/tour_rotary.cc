#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "cli/tour_parts.h"
#include "cli/tour_text.h"
#include "volvelle/nn/causal_self_attention.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/token_places.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"
#include "volvelle/studies/attention_cost.h"
#include "volvelle/studies/rotary.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kTokens = 5, kShort = 2, kWidth = 16;

std::string introduction() {
  return wrapped(
             "Causal attention with rotary positions: project the tokens to queries, keys and "
             "values; split them into heads; turn queries and keys, pair of columns by pair, by "
             "an angle that grows with the position; scores, causal mask, softmax, weighted "
             "values; merge the heads and project. Values are not turned: they are what is "
             "copied, not what is matched. Nothing is added to the tokens, and a rotation keeps "
             "lengths and angles, so a score depends on the content and on the offset alone:",
             {.indent = 0}) +
         "\n    q_m . k_n = q^T R(n - m) k        w_i = 10000^(-2i/D) radians per position\n";
}

struct Padded {
  std::string positions;  // of the shorter row, as they are counted
  double apart = 0;       // its real tokens from the same tokens by themselves
};

// A row of two tokens, padded on the left to the five of its neighbour.
Padded padded_row(int threads) {
  CausalSelfAttention layer({.width = kWidth, .heads = 2});
  const auto random = make_initializer({});
  layer.initialize(*random);
  Variable x(Tensor(DType::float32, Shape{2, kTokens, kWidth}));
  random->normal(x);
  const std::array<std::int64_t, 2> lengths{kTokens, kShort};
  const View given(lengths.data(), Shape{2});
  const Tensor together =
      layer.forward(x, {.threads = threads, .tokens = {.lengths = given, .padding = Padding::left}})
          .value();
  const std::int64_t first = 2 * kTokens - kShort;
  const View real(x.value().data<float>() + first * kWidth, Shape{1, kShort, kWidth});
  const Tensor alone = layer.forward(Variable(copy_of(real)), {.threads = threads}).value();
  Padded padded;
  for (std::int64_t i = 0; i < alone.size(); ++i) {
    padded.apart = std::max(
        padded.apart, std::fabs(static_cast<double>(alone.data<float>()[i] -
                                                    together.data<float>()[first * kWidth + i])));
  }
  const Tensor places = positions_of_rows(given, kTokens, Padding::left);
  for (std::int64_t t = 0; t < kTokens; ++t) {
    padded.positions +=
        (t == 0 ? "" : " ") + std::to_string(places.data<std::int64_t>()[kTokens + t]);
  }
  return padded;
}

std::string practice(const TourStyle& style) {
  const Padded padded = padded_row(style.threads);
  return wrapped(
             "Tables of cosines and sines depend on the position only, so they serve every row "
             "and head. Rows of different lengths: the padding mask goes together with the "
             "causal one, and positions count from each row's first real token. A row of 2 tokens "
             "padded on the left to 5 stands at positions " +
             padded.positions + "; its outputs are " + rounded(padded.apart, 7) +
             " from those of the 2 tokens by themselves.") +
         '\n' +
         wrapped(
             "Generation: a cache keeps keys as they were turned, and values; the new token's "
             "position goes on where the cache ends. Counting from 0 in every call gives wrong "
             "angles: `volvelle check attention --property cache` does so as its control, and "
             "`volvelle check positions` holds every scheme's steps to its full pass.");
}

}  // namespace

std::string rotary_tour(const TourStyle& style) {
  return introduction() + tour_heading("1. From two numbers to the layer") +
         tour_brief(study_rotary({}, {.threads = style.threads}), style) +
         tour_heading("2. What it costs") +
         tour_brief(study_attention_cost({.measure = false}, {.threads = style.threads}), style) +
         '\n' + wrapped("`volvelle study attention-cost` also measures it on this machine.") +
         tour_heading("3. In practice") + practice(style);
}

}  // namespace volvelle::cli
