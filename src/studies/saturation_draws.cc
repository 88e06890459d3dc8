#include "studies/saturation_draws.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "volvelle/base/philox_stream.h"

namespace volvelle {
namespace {

constexpr std::int64_t kAtOnce = 32;  // draws between two looks at whether to stop

// Rows of `filled` normal numbers and zeros behind them.
std::vector<double> drawn(PhiloxStream& random, std::int64_t rows, const DrawPlan& plan) {
  std::vector<double> numbers(static_cast<std::size_t>(rows * plan.width));
  for (std::int64_t i = 0; i < rows; ++i) {
    random.normal(std::span(numbers.data() + i * plan.width,
                            static_cast<std::size_t>(std::min(plan.filled, plan.width))));
  }
  return numbers;
}

ScoreRows score_rows(const DrawPlan& plan, const SaturationOptions& options, std::int64_t draw) {
  PhiloxStream random(options.seed, plan.stream + static_cast<std::uint64_t>(draw));
  const std::int64_t tokens = options.tokens, width = plan.width;
  const std::vector<double> queries = drawn(random, tokens, plan);
  ScoreRows rows{tokens, width, std::vector<double>(static_cast<std::size_t>(tokens * tokens)),
                 drawn(random, tokens, plan)};
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = 0; j < tokens; ++j) {
      double sum = 0;
      for (std::int64_t d = 0; d < width; ++d) {
        sum += queries[static_cast<std::size_t>(i * width + d)] *
               rows.keys[static_cast<std::size_t>(j * width + d)];
      }
      rows.scores[static_cast<std::size_t>(i * tokens + j)] = sum;
    }
  }
  return rows;
}

}  // namespace

const std::array<ScoreDivisor, kDivisors>& score_divisors() {
  static const std::array<ScoreDivisor, kDivisors> divisors{{
      {"none", "nothing", [](std::int64_t, std::int64_t) { return 1.0; }},
      {"root_of_width", "the root of the width",
       [](std::int64_t width, std::int64_t) { return 1 / std::sqrt(static_cast<double>(width)); }},
      {"width", "the width",
       [](std::int64_t width, std::int64_t) { return 1 / static_cast<double>(width); }},
      {"root_of_tokens", "the root of the tokens",
       [](std::int64_t, std::int64_t tokens) {
         return 1 / std::sqrt(static_cast<double>(tokens));
       }},
  }};
  return divisors;
}

void DrawnFigure::add(double value) {
  ++count;
  mean += (value - mean) / static_cast<double>(count);
  low = std::min(low, value);
  high = std::max(high, value);
}

void DrawnFigures::add(const SoftmaxFigures& figures) {
  spread.add(figures.spread);
  entropy.add(figures.entropy);
  largest.add(figures.largest);
  gradient.add(figures.gradient);
  query_gradient.add(figures.query_gradient);
}

WidthFigures draw_width(const DrawPlan& plan, const SaturationOptions& options, int threads,
                        const std::function<bool(std::int64_t)>& begins) {
  WidthFigures result;
  result.width = plan.width;
  using Measured = std::array<SoftmaxFigures, kDivisors>;
  for (std::int64_t first = 0; first < options.draws && begins(first); first += kAtOnce) {
    std::vector<Measured> measured(
        static_cast<std::size_t>(std::min(kAtOnce, options.draws - first)));
    parallel_for(static_cast<std::int64_t>(measured.size()), threads, [&](std::int64_t task) {
      const ScoreRows rows = score_rows(plan, options, first + task);
      for (std::size_t i = 0; i < kDivisors; ++i) {
        const double scale = score_divisors()[i].scale(plan.width, options.tokens);
        measured[static_cast<std::size_t>(task)][i] = softmax_figures(rows, scale);
      }
    });
    // In the order of the draws, so that threads change no bit.
    for (const Measured& one : measured) {
      for (std::size_t i = 0; i < kDivisors; ++i) result.by[i].add(one[i]);
      ++result.draws;
    }
  }
  return result;
}

}  // namespace volvelle
