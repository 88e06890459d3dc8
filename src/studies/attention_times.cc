#include "studies/attention_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "measure/peak_memory.h"
#include "measure/random_array.h"
#include "volvelle/attention/attend.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/ops/linear.h"

namespace volvelle {
namespace {

constexpr std::size_t kComposedMost = std::size_t{1} << 28;  // of one head's scores

// One length: token vectors, packed weights, and the heads within the projected tokens.
class Layer {
 public:
  Layer(const AttentionCostOptions& options, std::int64_t tokens, int threads)
      : tokens_(tokens),
        width_(options.measured_width),
        heads_(options.measured_heads),
        threads_(threads),
        x_(random_array(DType::float32, Shape{tokens, width_}, 1)),
        to_heads_(random_array(DType::float32, Shape{3 * width_, width_}, 2).view()),
        to_output_(random_array(DType::float32, Shape{width_, width_}, 3).view()),
        projected_(random_array(DType::float32, Shape{tokens, 3 * width_}, 4)),
        blended_(DType::float32, Shape{tokens, width_}),
        output_(DType::float32, Shape{tokens, width_}) {
    // So that their pages do not count as memory of the first call.
    std::fill_n(blended_.data<float>(), blended_.size(), 0.0f);
  }

  void project() {
    linear(x_.view(), to_heads_, projected_.mutable_view(), {.threads = threads_});
    linear(projected_columns(0), to_output_, output_.mutable_view(), {.threads = threads_});
  }

  // Heads are columns of the projected tokens: strides, no copies.
  AttentionProblem problem() const {
    return {.q = heads_at(0), .k = heads_at(1), .v = heads_at(2)};
  }

  void attend_with(const AttentionProblem& problem, AttentionPath path) {
    const std::int64_t head_width = width_ / heads_;
    const MutableView output(blended_.data<float>(), Shape{heads_, tokens_, head_width},
                             {head_width, width_, 1});
    attend(problem, AttentionOutputs{.output = output}, {.path = path, .threads = threads_});
  }

 private:
  View projected_columns(std::int64_t third) const {
    return View(projected_.data<float>() + third * width_, Shape{tokens_, width_}, {3 * width_, 1});
  }
  View heads_at(std::int64_t third) const {
    const std::int64_t head_width = width_ / heads_;
    return View(projected_.data<float>() + third * width_, Shape{heads_, tokens_, head_width},
                {head_width, 3 * width_, 1});
  }

  std::int64_t tokens_, width_, heads_;
  int threads_;
  Tensor x_;
  PackedWeights to_heads_, to_output_;
  Tensor projected_, blended_, output_;
};

struct TimedCall {
  std::function<void()> call;
  double* milliseconds;
};

double milliseconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

// Calls that are to be compared take turns, so that what else the machine does meets all of them,
// and the shortest time of each counts. Returns whether it came to its end.
bool time_in_turns(const std::vector<TimedCall>& calls, const AttentionCostOptions& options,
                   const StudyRun& run) {
  constexpr int kFewest = 3;
  for (const TimedCall& timed : calls) {
    timed.call();  // warms caches and workspaces
    *timed.milliseconds = std::numeric_limits<double>::infinity();
  }
  const double budget = 1e3 * options.seconds * static_cast<double>(calls.size());
  double spent = 0;
  for (int round = 0; round < kFewest || spent < budget; ++round) {
    for (const TimedCall& timed : calls) {
      if (run.stopped && run.stopped()) return false;
      const double taken = milliseconds_of(timed.call);
      *timed.milliseconds = std::min(*timed.milliseconds, taken);
      spent += taken;
    }
  }
  return true;
}

double peak_of(const std::function<void()>& call) {
  const PeakMemory memory;
  call();
  return static_cast<double>(memory.bytes());
}

bool measure_length(const AttentionCostOptions& options, const StudyRun& run, std::int64_t tokens,
                    MeasuredCosts& measured) {
  Layer layer(options, tokens, run.threads);
  AttentionTimes times{.tokens = tokens};
  layer.project();
  const AttentionProblem plain = layer.problem();
  AttentionProblem causal = plain;
  causal.causal = true;
  const auto scheme =
      make_positions("rotary", {.width = options.measured_width, .heads = options.measured_heads});
  AttendVariableOptions turn;
  scheme->enter(turn, {.positions = tokens});
  AttentionProblem turned = attention_rules(turn);
  turned.q = plain.q;
  turned.k = plain.k;
  turned.v = plain.v;
  const auto fused = [&](const AttentionProblem& problem) {
    return [&layer, &problem] { layer.attend_with(problem, AttentionPath::fused); };
  };
  times.score_bytes = 4.0 * static_cast<double>(options.measured_heads) *
                      static_cast<double>(tokens) * static_cast<double>(tokens);
  times.fused_bytes = peak_of(fused(plain));
  const auto one_head = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(tokens) * 4;
  times.composed_bytes = one_head > kComposedMost
                             ? std::nan("")
                             : peak_of([&] { layer.attend_with(plain, AttentionPath::composed); });
  const std::vector<TimedCall> calls{{[&] { layer.project(); }, &times.projections},
                                     {fused(plain), &times.attention},
                                     {fused(causal), &times.causal},
                                     {fused(turned), &times.turned}};
  if (!time_in_turns(calls, options, run)) return false;
  measured.by_length.push_back(times);
  return true;
}

// From a narrow window to all keys, at the longest length.
bool measure_rules(const AttentionCostOptions& options, const StudyRun& run,
                   MeasuredCosts& measured) {
  const std::int64_t tokens =
      *std::max_element(options.measured_tokens.begin(), options.measured_tokens.end());
  Layer layer(options, tokens, run.threads);
  layer.project();
  std::vector<AttentionProblem> problems;
  std::vector<TileTimes> rules;
  const auto add = [&](const std::string& name, const AttentionProblem& problem) {
    const TileCounts tiles = explain(problem, {.path = AttentionPath::fused}).tiles;
    const std::int64_t live = tiles.full + tiles.partial;
    rules.push_back({.rule = name, .live = live, .all = live + tiles.skipped});
    problems.push_back(problem);
  };
  AttentionProblem causal = layer.problem();
  causal.causal = true;
  for (const std::int64_t part : {16, 8, 4, 2}) {
    AttentionProblem problem = causal;
    problem.window = std::max<std::int64_t>(1, tokens / part);
    add("causal, " + std::to_string(problem.window) + " keys", problem);
  }
  add("causal", causal);
  add("every key", layer.problem());
  std::vector<TimedCall> calls;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    calls.push_back(
        {[&layer, &problem = problems[i]] { layer.attend_with(problem, AttentionPath::fused); },
         &rules[i].milliseconds});
  }
  if (!time_in_turns(calls, options, run)) return false;
  measured.by_rule = std::move(rules);
  return true;
}

}  // namespace

bool measure_attention_costs(const AttentionCostOptions& options, const StudyRun& run,
                             MeasuredCosts& measured) {
  std::vector<std::int64_t> lengths = options.measured_tokens;
  std::sort(lengths.begin(), lengths.end());
  double whole = 0, done = 0;
  for (const std::int64_t tokens : lengths) whole += static_cast<double>(tokens);
  for (const std::int64_t tokens : lengths) {
    if (run.progress) {
      run.progress(done / (whole * 1.5), std::to_string(tokens) + " tokens");
    }
    if (!measure_length(options, run, tokens, measured)) return false;
    done += static_cast<double>(tokens);
  }
  if (run.progress) run.progress(1 / 1.5, "live tiles");
  return measure_rules(options, run, measured);
}

double crossing(const std::vector<double>& tokens, const std::vector<double>& rising,
                const std::vector<double>& other) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const double here = std::log(rising[i] / other[i]);
    const double next = std::log(rising[i + 1] / other[i + 1]);
    if (here > 0 || next <= 0) continue;
    const double share = -here / (next - here);
    return tokens[i] * std::pow(tokens[i + 1] / tokens[i], share);
  }
  return 0;
}

}  // namespace volvelle
