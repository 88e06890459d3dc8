// Attention over a key/value cache beside the same over plain arrays.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/setting.h"
#include "volvelle/attention/key_value_cache.h"

namespace volvelle::properties {
namespace {

constexpr std::int64_t kTokens = 170;

// One sequence, four query heads on two key heads, with a window, slopes and sinks; keys and values
// are numbers that `stored` can hold.
Setting conversation(RandomNumbers& draws, DType stored) {
  Setting setting =
      random_setting({.key_heads = 2, .group = 2, .queries = kTokens, .keys = kTokens}, draws);
  AttentionProblem& p = setting.problem;
  p.k = setting.own(converted(converted(p.k, stored).view(), DType::float32));
  p.v = setting.own(converted(converted(p.v, stored).view(), DType::float32));
  p.causal = true;
  p.window = 140;
  p.slopes = setting.reals({4}, {0.25, 0.125, 0.0625, 0.03125});
  p.sinks = setting.reals({4}, {0.5, -1, 2, 0});
  return setting;
}

KeyValueCache empty_cache(DType stored) {
  return KeyValueCache({.key_heads = 2, .head_width = 16, .dtype = stored, .capacity = 1024});
}

// Keys and values [first, first + count) of a (1,G,S,D) problem.
void append(KeyValueCache& cache, Sequence sequence, const AttentionProblem& p, std::int64_t first,
            std::int64_t count) {
  const Sequence sequences[] = {sequence};
  cache.append(sequences, slice(p.k, 2, first, count), slice(p.v, 2, first, count));
}

// The problem as attention over a cache takes it.
AttentionProblem without_keys(const AttentionProblem& p, const View& q) {
  AttentionProblem cached = p;
  cached.q = q;
  cached.k = cached.v = {};
  return cached;
}

}  // namespace

double cache_error(const Subject& subject) {
  double worst = 0;
  for (const DType stored : {DType::float32, DType::bfloat16}) {
    RandomNumbers draws = subject.draws();
    const Setting setting = conversation(draws, stored);
    const AttentionProblem& p = setting.problem;
    const AttentionResult whole = subject.attend(p);
    KeyValueCache cache = empty_cache(stored);
    const Sequence sequence[] = {cache.add()};
    std::int64_t first = 0;
    for (const std::int64_t count : {1, 1, 7, 100, 1, 30, 29, 1}) {
      append(cache, sequence[0], p, first, count);
      const AttentionResult step =
          subject.attend_cached(without_keys(p, slice(p.q, 2, first, count)), cache, sequence);
      worst = std::max({worst,
                        distance(step.output.view(), slice(whole.output.view(), 2, first, count)),
                        distance(step.lse.view(), slice(whole.lse.view(), 2, first, count))});
      first += count;
    }
  }
  return worst;
}

// A trunk, a branch that left it 50 tokens ago and went on with others, and a short sequence.
double fork_error(const Subject& subject) {
  constexpr std::int64_t kShared = 120, kOwn = 20, kShort = 3, kQueries = 2;
  RandomNumbers draws = subject.draws();
  const Setting trunk = conversation(draws, DType::float32);
  const Setting other = conversation(draws, DType::float32);
  KeyValueCache cache = empty_cache(DType::float32);
  std::vector<Sequence> sequences{cache.add()};
  append(cache, sequences[0], trunk.problem, 0, kTokens);
  sequences.push_back(cache.fork(sequences[0]));
  cache.drop_last(sequences[1], kTokens - kShared);
  append(cache, sequences[1], other.problem, 0, kOwn);
  sequences.push_back(cache.add());
  append(cache, sequences[2], other.problem, 0, kShort);

  Setting batch = random_setting(
      {.batch = 3, .key_heads = 2, .group = 2, .queries = kQueries, .keys = 1}, draws);
  const AttentionResult ours =
      subject.attend_cached(without_keys(trunk.problem, batch.problem.q), cache, sequences);
  const auto branch = [&](const View AttentionProblem::* array) {
    return batch.own(joined(slice(trunk.problem.*array, 2, 0, kShared),
                            slice(other.problem.*array, 2, 0, kOwn), 2));
  };
  AttentionProblem alone[] = {trunk.problem, trunk.problem, trunk.problem};
  alone[1].k = branch(&AttentionProblem::k);
  alone[1].v = branch(&AttentionProblem::v);
  alone[2].k = slice(other.problem.k, 2, 0, kShort);
  alone[2].v = slice(other.problem.v, 2, 0, kShort);
  double worst = 0;
  for (std::int64_t b = 0; b < 3; ++b) {
    alone[b].q = slice(batch.problem.q, 0, b, 1);
    const AttentionResult one = subject.attend(alone[b]);
    worst = std::max({worst, distance(slice(ours.output.view(), 0, b, 1), one.output.view()),
                      distance(slice(ours.lse.view(), 0, b, 1), one.lse.view())});
  }
  return worst;
}

}  // namespace volvelle::properties
