// Rows that share an array and nothing else: padded ones in a batch, documents in a row.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/setting.h"

namespace volvelle::properties {
namespace {

Sizes square(std::int64_t length) {
  return {.key_heads = 2, .queries = length, .keys = length, .width = 16, .value_width = 16};
}

// Batch row b alone, with keys [first, first + count) only and no key_lengths.
AttentionProblem unpadded(const AttentionProblem& p, std::int64_t b, std::int64_t first,
                          std::int64_t count) {
  AttentionProblem alone = p;
  alone.q = slice(p.q, 0, b, 1);
  alone.k = slice(slice(p.k, 0, b, 1), 2, first, count);
  alone.v = slice(slice(p.v, 0, b, 1), 2, first, count);
  alone.key_lengths = {};
  alone.padding = Padding::right;
  return alone;
}

}  // namespace

double padding_error(const Subject& subject) {
  constexpr std::int64_t kKeys = 140;
  const std::vector<std::int64_t> lengths{kKeys, 33, 1};
  double worst = 0;
  for (const Padding side : {Padding::right, Padding::left}) {
    RandomNumbers draws = subject.draws();
    Sizes sizes = square(kKeys);
    sizes.batch = 3;
    sizes.queries = 20;
    Setting setting = random_setting(sizes, draws);
    setting.problem.key_lengths = setting.integers({3}, lengths);
    setting.problem.padding = side;
    const AttentionResult whole = subject.attend(setting.problem);
    for (std::int64_t b = 0; b < 3; ++b) {
      const std::int64_t length = lengths[static_cast<std::size_t>(b)];
      const std::int64_t first = side == Padding::left ? kKeys - length : 0;
      const AttentionResult one = subject.attend(unpadded(setting.problem, b, first, length));
      worst = std::max({worst, distance(slice(whole.output.view(), 0, b, 1), one.output.view()),
                        distance(slice(whole.lse.view(), 0, b, 1), one.lse.view())});
    }
  }
  return worst;
}

double packing_error(const Subject& subject) {
  const std::vector<std::int64_t> documents{70, 55, 15};
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(square(140), draws);
  AttentionProblem& p = setting.problem;
  p.causal = true;
  std::vector<std::int64_t> ids;
  for (const std::int64_t length : documents) {
    ids.insert(ids.end(), static_cast<std::size_t>(length), 7 - length);
  }
  p.query_segments = p.key_segments = setting.integers({1, 140}, ids);
  const AttentionResult whole = subject.attend(p);
  double worst = 0;
  std::int64_t first = 0;
  for (const std::int64_t length : documents) {
    const AttentionProblem alone{.q = slice(p.q, 2, first, length),
                                 .k = slice(p.k, 2, first, length),
                                 .v = slice(p.v, 2, first, length),
                                 .causal = true};
    const AttentionResult one = subject.attend(alone);
    worst =
        std::max({worst, distance(slice(whole.output.view(), 2, first, length), one.output.view()),
                  distance(slice(whole.lse.view(), 2, first, length), one.lse.view())});
    first += length;
  }
  return worst;
}

}  // namespace volvelle::properties
