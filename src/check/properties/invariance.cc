// What may change without changing the answer.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/setting.h"

namespace volvelle::properties {
namespace {

// The last rows of a causal problem, as a step that has seen the tokens before.
AttentionProblem step_of(const AttentionProblem& p, std::int64_t first, std::int64_t count) {
  AttentionProblem step = p;
  step.q = slice(p.q, 2, first, count);
  step.k = slice(p.k, 2, 0, first + count);
  step.v = slice(p.v, 2, 0, first + count);
  return step;
}

std::vector<std::int64_t> counted(std::int64_t count, std::int64_t first = 0) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

double step_by_step_error(const Subject& subject) {
  constexpr std::int64_t kLength = 70;
  RandomNumbers draws = subject.draws();
  Setting setting =
      random_setting({.key_heads = 2, .group = 2, .queries = kLength, .keys = kLength}, draws);
  AttentionProblem& p = setting.problem;
  p.causal = true;
  p.window = 33;
  p.slopes = setting.reals({4}, {0.5, 0.25, 0.125, 0.0625});
  p.bias_table = setting.own(filled(DType::float32, {4, 11}, [&] { return draws.unit(); }));
  p.sinks = setting.reals({4}, {0.5, -1, 2, 0});
  const AttentionResult whole = subject.attend(p);
  double worst = 0;
  for (const std::int64_t count : {1, 7, 33}) {
    for (std::int64_t first = 0; first < kLength; first += count) {
      const std::int64_t rows = std::min(count, kLength - first);
      const AttentionResult step = subject.attend(step_of(p, first, rows));
      worst =
          std::max({worst, distance(step.output.view(), slice(whole.output.view(), 2, first, rows)),
                    distance(step.lse.view(), slice(whole.lse.view(), 2, first, rows))});
    }
  }
  return worst;
}

double permutation_error(const Subject& subject) {
  constexpr std::int64_t kKeys = 140;
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting({.key_heads = 2, .queries = 37, .keys = kKeys}, draws);
  AttentionProblem& p = setting.problem;
  p.bias = setting.own(filled(DType::float32, {2, 37, kKeys}, [&] { return draws.unit(); }));
  p.keep =
      setting.own(filled(DType::boolean, {37, kKeys}, [&] { return draws.one_in(3) ? 0.0 : 1.0; }));
  p.slopes = setting.reals({2}, {0.25, 0.0625});
  std::vector<std::int64_t> order = counted(kKeys);
  p.key_positions = setting.integers({1, kKeys}, order);
  for (std::size_t n = order.size(); n > 1; --n) {
    std::swap(order[n - 1],
              order[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(n)))]);
  }
  AttentionProblem shuffled = p;
  shuffled.k = setting.own(gathered(p.k, 2, order));
  shuffled.v = setting.own(gathered(p.v, 2, order));
  shuffled.bias = setting.own(gathered(p.bias, 2, order));
  shuffled.keep = setting.own(gathered(p.keep, 1, order));
  shuffled.key_positions = setting.integers({1, kKeys}, order);
  return distance(subject.attend(shuffled), subject.attend(p));
}

// All positions moved together: biases by offset see no difference, to the bit.
double offset_error(const Subject& subject) {
  constexpr std::int64_t kLength = 60, kFar = 1000003;
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting({.key_heads = 2, .queries = kLength, .keys = kLength}, draws);
  AttentionProblem& p = setting.problem;
  p.slopes = setting.reals({2}, {0.25, 0.0625});
  p.bias_table = setting.own(filled(DType::float32, {2, 15}, [&] { return draws.unit(); }));
  p.bucket_table = setting.own(filled(DType::float32, {2, 16}, [&] { return draws.unit(); }));
  p.buckets = Buckets::two_way;
  p.max_distance = 30;
  AttentionProblem elsewhere = p;
  elsewhere.query_positions = elsewhere.key_positions =
      setting.integers({kLength}, counted(kLength, kFar));
  return bit_distance(subject.attend(elsewhere), subject.attend(p));
}

}  // namespace volvelle::properties
