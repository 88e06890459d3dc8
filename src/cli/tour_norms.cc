#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cli/tour_parts.h"
#include "cli/tour_text.h"
#include "volvelle/nn/placement.h"
#include "volvelle/nn/stack.h"
#include "volvelle/ops/norms.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"
#include "volvelle/studies/norm_placement.h"
#include "volvelle/studies/path_factors.h"
#include "volvelle/studies/stream_growth.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kTokens = 3, kWidth = 4;
using Tokens = std::array<float, kTokens * kWidth>;

class NormsTour {
 public:
  explicit NormsTour(const TourStyle& style) : style_(style) {}

  std::string text() const {
    return introduction() + layer_norm_step() + paths() + stream() + placement() + final_norm();
  }

 private:
  std::string introduction() const;
  std::string layer_norm_step() const;
  std::string paths() const;
  std::string stream() const;
  std::string placement() const;
  std::string final_norm() const;
  std::string row(const std::string& name, const float* numbers) const;

  TourStyle style_;
};

std::string NormsTour::introduction() const {
  const auto formula = [](const char* placement) {
    const std::string name = std::string(placement) + ':';
    return wrapped(name + std::string(7 - name.size(), ' ') + placement_formula(placement),
                   {.indent = 4}, 7);
  };
  return wrapped(
             "A block adds two branches to a stream x, attention and feed-forward. That sum is "
             "a residual connection: values and gradients have a direct way past the branch. "
             "The question is where the norm stands: on the stream, after each sum (post-LN), "
             "or in front of each branch (pre-LN), where the stream itself stays untouched.",
             {.indent = 0}) +
         '\n' + formula("post") + formula("pre");
}

std::string NormsTour::row(const std::string& name, const float* numbers) const {
  std::string text = "  " + name + std::string(26 - name.size(), ' ');
  for (std::int64_t i = 0; i < kWidth; ++i) {
    const std::string number = fixed(static_cast<double>(numbers[i]), style_.digits.value_or(4));
    text += std::string(number.size() < 9 ? 9 - number.size() : 1, ' ') + number;
  }
  return text + '\n';
}

Tokens normalized(const float* tokens, std::int64_t count) {
  Tensor x(DType::float32, Shape{count, kWidth});
  std::copy(tokens, tokens + count * kWidth, x.data<float>());
  const Variable y = layer_norm(Variable(x), {}, {});
  Tokens result{};
  std::copy(y.value().data<float>(), y.value().data<float>() + count * kWidth, result.begin());
  return result;
}

// Each feature to mean 0 and variance 1 over the tokens: what a batch norm does in training.
Tokens normalized_over_batch(const Tokens& tokens) {
  Tokens result{};
  for (std::size_t c = 0; c < kWidth; ++c) {
    double mean = 0, variance = 0;
    for (std::size_t t = 0; t < kTokens; ++t) mean += tokens[t * kWidth + c] / kTokens;
    for (std::size_t t = 0; t < kTokens; ++t) {
      variance += std::pow(tokens[t * kWidth + c] - mean, 2) / kTokens;
    }
    for (std::size_t t = 0; t < kTokens; ++t) {
      result[t * kWidth + c] =
          static_cast<float>((tokens[t * kWidth + c] - mean) / std::sqrt(variance + 1e-5));
    }
  }
  return result;
}

std::string NormsTour::layer_norm_step() const {
  const Tokens tokens{1, 2, 3, 6, 4, 0, 7, 0, -1, -1, 2, 8};
  const Tokens alone = normalized(tokens.data(), 1);
  const Tokens among = normalized(tokens.data(), kTokens);
  Tokens other = tokens;
  other[8] = 90;  // another text in the same batch
  const Tokens by_batch = normalized_over_batch(tokens);
  const Tokens by_other_batch = normalized_over_batch(other);
  return tour_heading("1. A layer norm: each token to mean 0 and variance 1") +
         row("token", tokens.data()) + row("its layer norm", alone.data()) +
         row("the same, among others", among.data()) + '\n' +
         wrapped(
             "A learned scale and shift follow, 1 and 0 at first. No other token enters: alone "
             "or in a batch, the token keeps its values. A batch norm takes each feature over "
             "all tokens, so a change in another token reaches this one, and so does padding:") +
         '\n' + row("its batch norm", by_batch.data()) +
         row("beside another token", by_other_batch.data());
}

std::string NormsTour::paths() const {
  return tour_heading("2. The way back of a gradient: a factor for every layer") +
         wrapped(
             "Pre-LN's layer passes on an untouched copy and adds a branch to it: 1 plus or "
             "minus a little. Post-LN's layer ends in a norm, whose derivative divides by the "
             "spread and takes the mean out: no 1 is guaranteed. Many factors multiply up:") +
         '\n' + tour_brief(study_path_factors({}, {.threads = style_.threads}), style_);
}

std::string NormsTour::stream() const {
  return tour_heading("3. The price of the untouched copy: the stream grows") +
         tour_brief(study_stream_growth({}, {.threads = style_.threads}), style_);
}

// The depths whose lines take a second or two; the study has the third.
std::string NormsTour::placement() const {
  StudyResult result = study_norm_placement({.depths = {12, 24}}, {.threads = style_.threads});
  std::erase_if(result.tables, [](const StudyTable& table) {
    return table.key != "rows" && table.key != "evenness";
  });
  return tour_heading("4. Measured: which layers get the gradient") +
         wrapped(
             "Whole stacks of 12 and 24 layers at initialisation, 20 seeds, residual sums in "
             "both: does a residual alone even out the gradients? The figure is the gradient "
             "norm of each block's first feed-forward matrix, the last layer's over the "
             "first's. `volvelle study norm-placement` has 48 layers too, and every layer:") +
         '\n' + tour_brief(std::move(result), style_);
}

std::string NormsTour::final_norm() const {
  const auto has = [](const char* placement) {
    return Stack({.layers = 1, .width = 4, .heads = 1, .feed_forward = 4, .placement = placement})
        .has_final_norm();
  };
  return tour_heading("5. The norm that is easily forgotten") +
         wrapped(std::string("What a pre-LN stack leaves was never normalised, so a norm belongs "
                             "behind its last block. A stack built here has it by itself: pre ") +
                 (has("pre") ? "yes" : "NO") + ", post " + (has("post") ? "YES" : "no") +
                 ". A stack without one has to be asked for by name (FinalNorm::no).");
}

}  // namespace

std::string norms_tour(const TourStyle& style) { return NormsTour(style).text(); }

}  // namespace volvelle::cli
