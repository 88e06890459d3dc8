// Exclusion by intervals of keys, each query beside itself alone over exactly those.
#include <algorithm>
#include <cstdint>
#include <functional>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/setting.h"

namespace volvelle::properties {
namespace {

Sizes square(std::int64_t length) {
  return {.key_heads = 2, .queries = length, .keys = length, .width = 16, .value_width = 16};
}

// The keys of a query as an interval.
struct Interval {
  std::int64_t begin = 0, end = 0;
};

// Each query alone over exactly the keys that it should see, without any option.
double against_intervals(const Subject& subject, const AttentionProblem& p,
                         const std::function<Interval(std::int64_t)>& interval_of) {
  const AttentionResult whole = subject.attend(p);
  double worst = 0;
  for (std::int64_t i = 0; i < p.q.shape()[2]; ++i) {
    const Interval keys = interval_of(i);
    const AttentionProblem alone{.q = slice(p.q, 2, i, 1),
                                 .k = slice(p.k, 2, keys.begin, keys.end - keys.begin),
                                 .v = slice(p.v, 2, keys.begin, keys.end - keys.begin)};
    const AttentionResult one = subject.attend(alone);
    worst = std::max({worst, distance(slice(whole.output.view(), 2, i, 1), one.output.view()),
                      distance(slice(whole.lse.view(), 2, i, 1), one.lse.view())});
  }
  return worst;
}

}  // namespace

double window_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(square(140), draws);
  AttentionProblem& p = setting.problem;
  p.causal = true;
  p.window = 17;
  double worst = against_intervals(subject, p, [](std::int64_t i) -> Interval {
    return {std::max<std::int64_t>(i - 16, 0), i + 1};
  });
  p.causal = false;
  p.window = 9;
  p.window_right = 5;
  worst = std::max(worst, against_intervals(subject, p, [](std::int64_t i) -> Interval {
                     return {std::max<std::int64_t>(i - 8, 0), std::min<std::int64_t>(i + 5, 140)};
                   }));
  return worst;
}

double prefix_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(square(140), draws);
  setting.problem.causal = true;
  setting.problem.prefix = 20;
  return against_intervals(subject, setting.problem, [](std::int64_t i) -> Interval {
    return {0, std::max<std::int64_t>(i + 1, 20)};
  });
}

double chunk_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(square(140), draws);
  setting.problem.chunk = 32;
  return against_intervals(subject, setting.problem, [](std::int64_t i) -> Interval {
    return {i / 32 * 32, std::min<std::int64_t>(i / 32 * 32 + 32, 140)};
  });
}

}  // namespace volvelle::properties
