#include "studies/rotary_measured.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "studies/offset_spread.h"
#include "volvelle/attention/attend.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/nn/causal_self_attention.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/nn/positions/pairing.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::int64_t kScoreRows = 24;

std::string scheme_text(const RotaryStudyOptions& options, bool interleaved = false) {
  return "rotary(base=" + shortest(options.base) + (interleaved ? ", pairing=interleaved)" : ")");
}

// The layer and everything that the document's program draws, in its order.
struct Drawn {
  CausalSelfAttention layer;
  Variable x, query, key, changed;

  explicit Drawn(const RotaryStudyOptions& options)
      : layer({.width = options.width, .heads = options.heads, .positions = scheme_text(options)}),
        x(Tensor(DType::float32, Shape{options.batch, options.tokens, options.width})),
        query(Tensor(DType::float32, Shape{options.width / options.heads})),
        key(Tensor(DType::float32, query.shape())),
        changed(Tensor(DType::float32, Shape{options.batch, kRotaryChanged, options.width})) {
    const auto random = make_initializer({.seed = options.seed});
    layer.initialize(*random);
    random->normal(x);
    random->normal(query);
    random->normal(key);
    random->normal(changed);
  }
};

Tensor parameter(const Module& module, const std::string& name) {
  for (const NamedParameter& one : module.parameters()) {
    if (one.name == name) return one.variable.value();
  }
  return {};
}

double difference(const Tensor& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    worst = std::max(
        worst, std::fabs(static_cast<double>(a.data<float>()[i]) - b[static_cast<std::size_t>(i)]));
  }
  return worst;
}

std::vector<double> in_double(const Tensor& array) {
  return {array.data<float>(), array.data<float>() + array.size()};
}

// Of outputs (B,T,C) before the last tokens.
double leak(const std::vector<double>& before, const std::vector<double>& after,
            std::int64_t tokens, std::int64_t width) {
  double worst = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto token = static_cast<std::int64_t>(i) / width % tokens;
    if (token < tokens - kRotaryChanged) worst = std::max(worst, std::fabs(before[i] - after[i]));
  }
  return worst;
}

Tensor with_last_changed(const Tensor& x, const Tensor& changed) {
  Tensor other = copy_of(x.view());
  const std::int64_t batch = x.shape()[0], tokens = x.shape()[1], width = x.shape()[2];
  for (std::int64_t b = 0; b < batch; ++b) {
    std::copy_n(changed.data<float>() + b * kRotaryChanged * width, kRotaryChanged * width,
                other.data<float>() + ((b + 1) * tokens - kRotaryChanged) * width);
  }
  return other;
}

// Takes the same weights.
void copy_parameters(const Module& from, Module& to) {
  const auto given = from.parameters();
  const auto taken = to.parameters();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    Variable variable = taken[i].variable;
    variable.replace(copy_of(given[i].variable.view()));
  }
}

double leak_of(const CausalSelfAttention& layer, const Tensor& x, const Tensor& other) {
  const std::vector<double> before = in_double(layer.forward(Variable(x)).value());
  const std::vector<double> after = in_double(layer.forward(Variable(other)).value());
  return leak(before, after, x.shape()[1], x.shape()[2]);
}

// The library's causal attention of the heads as they were turned, merged and projected out.
double attention_difference(const HeadsOfTokens& heads, const Tensor& out, const Tensor& y) {
  const AttentionResult result =
      attend({.q = heads.q.view(), .k = heads.k.view(), .v = heads.v.view(), .causal = true},
             AttentionRequest{}, {.path = AttentionPath::fused});
  const Shape& shape = heads.q.shape();
  const std::int64_t batch = shape[0], count = shape[1], tokens = shape[2], head = shape[3];
  std::vector<double> projected;
  for (std::int64_t row = 0; row < batch * tokens; ++row) {
    for (std::int64_t c = 0; c < count * head; ++c) {
      double sum = 0;
      for (std::int64_t k = 0; k < count * head; ++k) {
        const std::int64_t at =
            ((row / tokens * count + k / head) * tokens + row % tokens) * head + k % head;
        sum += static_cast<double>(result.output.data<float>()[at]) *
               static_cast<double>(out.data<float>()[c * count * head + k]);
      }
      projected.push_back(sum);
    }
  }
  return difference(y, projected);
}

double length_difference(const std::vector<double>& turned, const std::vector<double>& plain,
                         std::int64_t head_width) {
  double worst = 0;
  for (std::size_t begin = 0; begin < turned.size();
       begin += static_cast<std::size_t>(head_width)) {
    double a = 0, b = 0;
    for (std::size_t d = begin; d < begin + static_cast<std::size_t>(head_width); ++d) {
      a += turned[d] * turned[d];
      b += plain[d] * plain[d];
    }
    worst = std::max(worst, std::fabs(std::sqrt(a) - std::sqrt(b)));
  }
  return worst;
}

// With one key and a scale of 1, a row's log-sum-exp is its score: that of the fused path.
PositionRows scores_of(const RotaryStudyOptions& options, const Drawn& drawn) {
  const std::int64_t head_width = options.width / options.heads;
  const auto scheme =
      make_positions(scheme_text(options), {.width = options.width, .heads = options.heads});
  AttendVariableOptions turn;
  scheme->enter(turn, {.positions = kScoreRows});
  std::vector<std::int64_t> places(kScoreRows);
  std::iota(places.begin(), places.end(), 0);
  PositionRows scores{kScoreRows, kScoreRows, std::vector<double>(kScoreRows * kScoreRows)};
  for (std::int64_t j = 0; j < kScoreRows; ++j) {
    const AttentionProblem problem{
        .q = View(drawn.query.value().data<float>(), Shape{kScoreRows, head_width}, {0, 1}),
        .k = View(drawn.key.value().data<float>(), Shape{1, head_width}),
        .v = View(drawn.key.value().data<float>(), Shape{1, head_width}),
        .scale = 1.0,
        .rotary = {.cosines = turn.rotary.cosines.view(),
                   .sines = turn.rotary.sines.view(),
                   .pairing = turn.rotary.pairing},
        .query_positions = View(places.data(), Shape{kScoreRows}),
        .key_positions = View(&places[static_cast<std::size_t>(j)], Shape{1})};
    const Tensor lse = attend(problem, AttentionRequest{}, {.path = AttentionPath::fused}).lse;
    for (std::int64_t i = 0; i < kScoreRows; ++i) {
      scores.values[static_cast<std::size_t>(i * kScoreRows + j)] =
          static_cast<double>(lse.data<float>()[i]);
    }
  }
  return scores;
}

// Radians per position, off row 1 of the tables that attention is given.
std::vector<double> rates_of(const RotaryStudyOptions& options) {
  const auto scheme =
      make_positions(scheme_text(options), {.width = options.width, .heads = options.heads});
  AttendVariableOptions turn;
  scheme->enter(turn, {.positions = 2});
  const Tensor cosines = converted(turn.rotary.cosines.view(), DType::float64);
  const Tensor sines = converted(turn.rotary.sines.view(), DType::float64);
  const std::int64_t pairs = options.width / options.heads / 2;
  std::vector<double> rates;
  for (std::int64_t i = 0; i < pairs; ++i) {
    rates.push_back(std::atan2(sines.data<double>()[pairs + i], cosines.data<double>()[pairs + i]));
  }
  return rates;
}

// Queries as they are projected: each token by itself, at position 0, where nothing turns.
std::vector<double> still_queries(const RotaryLayer& layer, const Tensor& x) {
  const std::int64_t batch = x.shape()[0], tokens = x.shape()[1], width = x.shape()[2];
  const std::vector<double> rows =
      rotary_heads_loop(layer, x.reshaped({batch * tokens, 1, width}), 0);
  const std::int64_t head = width / layer.heads;  // rows are (B T, H, 1, D), wanted (B, H, T, D)
  std::vector<double> heads;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < layer.heads; ++h) {
      for (std::int64_t t = 0; t < tokens; ++t) {
        const auto begin = rows.begin() + ((b * tokens + t) * layer.heads + h) * head;
        heads.insert(heads.end(), begin, begin + head);
      }
    }
  }
  return heads;
}

const std::vector<FaultFigures>& known_faults() {
  static const std::vector<FaultFigures> kFaults{
      {RotaryFault::none, "none", "the loop as it should be"},
      {RotaryFault::no_mask, "no_mask", "no mask"},
      {RotaryFault::mask_after_softmax, "mask_after_softmax", "mask after the softmax"},
      {RotaryFault::diagonal_masked, "diagonal_masked", "diagonal masked"},
      {RotaryFault::values_turned, "values_turned", "values turned too"},
      {RotaryFault::rates_of_width, "rates_of_width", "rates of the model's width"},
      {RotaryFault::pairing_swapped, "pairing_swapped", "pairing of other weights"},
      {RotaryFault::turned_before_split, "turned_before_split", "turned before the split"},
  };
  return kFaults;
}

double largest(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return worst;
}

double converted_difference(const RotaryStudyOptions& options, const Drawn& drawn,
                            const Tensor& y) {
  CausalSelfAttention other(
      {.width = options.width, .heads = options.heads, .positions = scheme_text(options, true)});
  copy_parameters(drawn.layer, other);
  for (const NamedParameter& one : other.parameters()) {
    if (one.name != "qkv.weight") continue;
    Variable variable = one.variable;
    variable.replace(
        packed_with_pairing(variable.view(), RotaryPairing::split_half, RotaryPairing::interleaved,
                            {.heads = options.heads, .head_width = options.width / options.heads}));
  }
  return difference(y, in_double(other.forward(drawn.x).value()));
}

}  // namespace

bool measure_rotary(const RotaryStudyOptions& options, const StudyRun& run,
                    RotaryMeasured& measured) {
  const NoGrad off;
  const Drawn drawn(options);
  const Tensor& x = drawn.x.value();
  HeadsOfTokens heads;
  const Tensor y = drawn.layer.forward(drawn.x, {.threads = run.threads}, &heads).value();
  const RotaryLayer layer{options.width, options.heads, options.base,
                          parameter(drawn.layer, "qkv.weight"),
                          parameter(drawn.layer, "out.weight")};
  measured.x_shape = x.shape();
  measured.head_shape = heads.q.shape();
  measured.output_shape = y.shape();
  measured.parameters = drawn.layer.parameter_count();
  measured.scheme_parameters = measured.parameters - layer.qkv.size() - layer.out.size();
  measured.from_attention = attention_difference(heads, layer.out, y);
  const std::vector<double> q = rotary_heads_loop(layer, x, 0), k = rotary_heads_loop(layer, x, 1);
  measured.from_pairs = std::max(difference(heads.q, q), difference(heads.k, k));
  measured.from_values = difference(heads.v, rotary_heads_loop(layer, x, 2));
  measured.length_change =
      length_difference(in_double(heads.q), still_queries(layer, x), options.width / options.heads);
  measured.from_converted = converted_difference(options, drawn, y);

  const Tensor other = with_last_changed(x, drawn.changed.value());
  measured.leak_with_mask = leak_of(drawn.layer, x, other);
  CausalSelfAttention open({.width = options.width,
                            .heads = options.heads,
                            .positions = scheme_text(options),
                            .causal = false});
  copy_parameters(drawn.layer, open);
  measured.leak_without_mask = leak_of(open, x, other);

  measured.scores = scores_of(options, drawn);
  measured.score_5_2 = measured.scores.at(5, 2);
  measured.score_12_9 = measured.scores.at(12, 9);
  measured.score_5_3 = measured.scores.at(5, 3);
  measured.score_spread = widest_spread(offset_spreads(measured.scores), kScoreRows);
  measured.rates = rates_of(options);

  for (const FaultFigures& known : known_faults()) {
    if (run.stopped && run.stopped()) return false;
    if (run.progress) {
      run.progress(
          static_cast<double>(measured.faults.size()) / static_cast<double>(known_faults().size()),
          known.name);
    }
    FaultFigures figures = known;
    const std::vector<double> output = rotary_layer_loop(layer, x, known.fault);
    figures.from_layer = difference(y, output);
    figures.shifted = largest(output, rotary_layer_loop(layer, x, known.fault, kRotaryShift));
    figures.leaked =
        leak(output, rotary_layer_loop(layer, other, known.fault), options.tokens, options.width);
    measured.faults.push_back(figures);
  }
  return true;
}

}  // namespace volvelle
