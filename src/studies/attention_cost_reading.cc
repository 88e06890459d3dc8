#include "studies/attention_cost_reading.h"

#include <algorithm>
#include <cmath>

#include "studies/attention_operations.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kMib = 1024.0 * 1024;

// Pairs of query and key that a window of keys up to the query lets through.
double windowed_pairs(std::int64_t tokens, std::int64_t window) {
  const auto t = static_cast<double>(tokens);
  const auto w = static_cast<double>(std::min(tokens, window));
  return w * (w + 1) / 2 + (t - w) * w;
}

// Whether twice the tokens make attention twice the part of the projections that it was.
bool doubles(double ratio, double at_twice) { return at_twice > 1.9 * ratio; }

std::string counted_reading(const AttentionCostOptions& options) {
  const AttentionOperations count =
      attention_operations(options.batch, options.tokens, options.width, options.heads);
  return "Batch " + grouped(options.batch) + ", " + grouped(options.tokens) + " tokens, width " +
         grouped(options.width) + ": projections " + scientific(count.projections, 3) +
         " operations, scores and values " + scientific(count.attention, 3) +
         " (not computing what a causal mask hides would halve them), a whole matrix of scores " +
         rounded(score_bytes(options.batch, options.heads, options.tokens, options.bytes) / kGib,
                 2) +
         " GiB at " + std::to_string(options.heads) + " heads and " +
         std::to_string(options.bytes) + " bytes a number.";
}

std::string ladder_reading(const AttentionCostOptions& options) {
  std::string text = "The two are equal at T = 2 C = " + grouped(2 * options.width) +
                     "; beyond it attention outweighs the projections. Its part grows with T:";
  for (const std::int64_t tokens : options.ladder) {
    const double ratio = attention_operations(1, tokens, options.width, options.heads).ratio();
    text += (tokens == options.ladder.front() ? " " : ", ") + fixed(ratio, 2) + " at " +
            grouped(tokens);
  }
  const AttentionOperations count =
      attention_operations(1, options.ladder.front(), options.width, options.heads);
  return text + ". Turning queries and keys is " +
         rounded(100 * count.rotation / (count.projections + count.attention), 2) +
         "% of the operations at " + grouped(options.ladder.front()) + " tokens, and less beyond.";
}

std::string time_reading(const AttentionCostOptions& options, const MeasuredCosts& measured) {
  std::vector<double> tokens, attention, causal, projections;
  double turning = 0;
  for (const AttentionTimes& times : measured.by_length) {
    tokens.push_back(static_cast<double>(times.tokens));
    attention.push_back(times.attention);
    causal.push_back(times.causal);
    projections.push_back(times.projections);
    turning = times.turned / times.attention - 1;
  }
  const double meet = crossing(tokens, attention, projections);
  const double causal_meet = crossing(tokens, causal, projections);
  const auto said = [&](double at) {
    if (at > 0) return "at about " + grouped(std::llround(at)) + " tokens";
    return std::string(attention.front() > projections.front() ? "below " : "beyond ") +
           "the lengths measured";
  };
  return "Measured at width " + grouped(options.measured_width) +
         ": the time of fused attention meets that of the projections " + said(meet) + ", causal " +
         said(causal_meet) + "; by operations they are equal at " +
         grouped(2 * options.measured_width) + ". Turning queries and keys takes " +
         rounded(100 * std::max(turning, 0.0), 1) + "% more at " +
         grouped(measured.by_length.back().tokens) + " tokens.";
}

std::string memory_reading(const MeasuredCosts& measured) {
  const AttentionTimes& last = measured.by_length.back();
  return "Fused attention needs " + rounded(last.fused_bytes / kMib, 1) +
         " MiB beside its arrays at " + grouped(last.tokens) +
         " tokens, where all heads' scores are " + rounded(last.score_bytes / kMib, 1) +
         " MiB. It stores no scores; its time stays quadratic.";
}

std::string tile_reading(const MeasuredCosts& measured) {
  const TileTimes& narrow = measured.by_rule.front();
  const TileTimes& causal = measured.by_rule[measured.by_rule.size() - 2];
  const TileTimes& every = measured.by_rule.back();
  const auto share = [&](const TileTimes& rule) {
    return rounded(100 * static_cast<double>(rule.live) / static_cast<double>(every.live), 0) +
           "% of the tiles in " + rounded(100 * rule.milliseconds / every.milliseconds, 0) +
           "% of the time";
  };
  return "Tiles that nobody sees are not met: causal attention meets " + share(causal) +
         ", and a narrow window (" + narrow.rule + ") " + share(narrow) + ".";
}

}  // namespace

StudyControl windowed_control(const AttentionCostOptions& options) {
  const std::int64_t window = std::max<std::int64_t>(1, options.ladder.front() / 8);
  const auto ratio = [&](std::int64_t tokens) {
    const double attention =
        4 * windowed_pairs(tokens, window) * static_cast<double>(options.width);
    return attention / attention_operations(1, tokens, options.width, options.heads).projections;
  };
  const std::int64_t tokens = options.ladder.back();
  const double here = ratio(tokens), twice = ratio(2 * tokens);
  StudyControl control;
  control.what = "The same count where a query sees a window of " + grouped(window) + " keys.";
  control.check = "twice the tokens make attention twice the part of the projections that it was.";
  control.failed = !doubles(here, twice);
  const auto full = [&](std::int64_t length) {
    return attention_operations(1, length, options.width, options.heads).ratio();
  };
  control.figures = rounded(here, 4) + " at " + grouped(tokens) + " tokens and " +
                    rounded(twice, 4) + " at " + grouped(2 * tokens) + "; over all keys " +
                    rounded(full(tokens), 2) + " and " + rounded(full(2 * tokens), 2) + ".";
  return control;
}

std::vector<std::string> attention_cost_reading(const AttentionCostOptions& options,
                                                const MeasuredCosts& measured) {
  std::vector<std::string> reading{counted_reading(options), ladder_reading(options)};
  if (!measured.by_length.empty()) {
    reading.push_back(time_reading(options, measured));
    reading.push_back(memory_reading(measured));
  }
  if (measured.by_rule.size() > 2) reading.push_back(tile_reading(measured));
  return reading;
}

}  // namespace volvelle
