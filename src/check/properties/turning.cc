// Queries and keys turned by their positions, against the same numbers turned beforehand; and the
// ways in which programs get that wrong.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/twins.h"

namespace volvelle::properties {
namespace {

constexpr Sizes kSizes{.batch = 2,
                       .key_heads = 2,
                       .group = 2,
                       .queries = 37,
                       .keys = 140,
                       .width = 20,
                       .value_width = 20};
constexpr std::int64_t kPairs = 6;  // 12 of 20 columns turn
constexpr std::int64_t kPositions = 300;

double frequency(std::int64_t pair) {
  return std::pow(10000.0, -static_cast<double>(pair) / kPairs);
}

struct Tables {
  Tensor cosines, sines;
};

template <class Frequency>
Tables tables_of(std::int64_t positions, std::int64_t pairs, Frequency frequency_of) {
  Tables made{Tensor(DType::float32, {positions, pairs}),
              Tensor(DType::float32, {positions, pairs})};
  for (std::int64_t at = 0; at < positions * pairs; ++at) {
    const double angle = static_cast<double>(at / pairs) * frequency_of(at % pairs);
    made.cosines.data<float>()[at] = static_cast<float>(std::cos(angle));
    made.sines.data<float>()[at] = static_cast<float>(std::sin(angle));
  }
  return made;
}

// (B,H,N,X) with each row turned by the position (B,N) at which it stands.
Tensor turned(const View& rows, const View& positions, const RotaryTurn& turn) {
  Tensor result = copy_of(rows);
  float* row = result.data<float>();
  const Shape& shape = rows.shape();
  const bool interleaved = turn.pairing == RotaryPairing::interleaved;
  const std::int64_t pairs = turn.cosines.shape()[1];
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    for (std::int64_t h = 0; h < shape[1]; ++h) {
      for (std::int64_t n = 0; n < shape[2]; ++n, row += shape[3]) {
        const auto position =
            static_cast<std::int64_t>(element_as_double(positions, b * shape[2] + n));
        for (std::int64_t pair = 0; pair < pairs; ++pair) {
          const double c = element_as_double(turn.cosines, position * pairs + pair);
          const double s = element_as_double(turn.sines, position * pairs + pair);
          float& first = row[interleaved ? 2 * pair : pair];
          float& second = row[interleaved ? 2 * pair + 1 : pair + pairs];
          const double x = first, y = second;
          first = static_cast<float>(x * c - y * s);
          second = static_cast<float>(x * s + y * c);
        }
      }
    }
  }
  return result;
}

Setting turning_setting(RotaryPairing pairing, RandomNumbers& draws) {
  Setting setting = random_setting(kSizes, draws);
  AttentionProblem& p = setting.problem;
  const auto places = [&](std::int64_t tokens) {
    return setting.own(filled(DType::int64, {kSizes.batch, tokens},
                              [&] { return static_cast<double>(draws.below(kPositions)); }));
  };
  p.query_positions = places(kSizes.queries);
  p.key_positions = places(kSizes.keys);
  const Tables tables = tables_of(kPositions, kPairs, frequency);
  p.rotary = {.cosines = setting.own(tables.cosines),
              .sines = setting.own(tables.sines),
              .pairing = pairing};
  return setting;
}

}  // namespace

double turning_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  for (const RotaryPairing pairing : {RotaryPairing::split_half, RotaryPairing::interleaved}) {
    const Setting setting = turning_setting(pairing, draws);
    AttentionProblem before = setting.problem;
    const Tensor q = turned(before.q, before.query_positions, before.rotary);
    const Tensor k = turned(before.k, before.key_positions, before.rotary);
    before.q = q.view();
    before.k = k.view();
    before.rotary = {};
    worst = std::max(worst, distance(subject.attend(setting.problem), subject.attend(before)));
  }
  return worst;
}

void swap_pairing(Setting& setting) {
  RotaryTurn& turn = setting.problem.rotary;
  if (!turn) return;
  turn.pairing = turn.pairing == RotaryPairing::interleaved ? RotaryPairing::split_half
                                                            : RotaryPairing::interleaved;
}

void turn_values(Setting& setting) {
  AttentionProblem& p = setting.problem;
  if (p.rotary) p.v = setting.own(turned(p.v, p.key_positions, p.rotary));
}

// base^(-2i/D) with H D in place of D.
void take_model_width(Setting& setting) {
  AttentionProblem& p = setting.problem;
  if (!p.rotary) return;
  const auto heads = static_cast<double>(p.q.shape()[1]);
  const Tables tables =
      tables_of(p.rotary.cosines.shape()[0], p.rotary.cosines.shape()[1],
                [&](std::int64_t pair) { return std::pow(frequency(pair), 1 / heads); });
  p.rotary.cosines = setting.own(tables.cosines);
  p.rotary.sines = setting.own(tables.sines);
}

}  // namespace volvelle::properties
