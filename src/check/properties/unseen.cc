// What a query does not see leaves no trace in its row.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/setting.h"

namespace volvelle::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Sizes square(std::int64_t length) {
  return {.key_heads = 2, .queries = length, .keys = length, .width = 16, .value_width = 16};
}

// Rows [0, count) of every head.
AttentionResult first_rows(const AttentionResult& result, std::int64_t count) {
  AttentionResult rows;
  rows.output = copy_of(slice(result.output.view(), 2, 0, count));
  rows.lse = copy_of(slice(result.lse.view(), 2, 0, count));
  return rows;
}

// Other keys and values from `first` on, drawn from `next`.
AttentionProblem with_other_future(Setting& setting, std::int64_t first,
                                   const std::function<double()>& next) {
  AttentionProblem other = setting.problem;
  for (View AttentionProblem::* array : {&AttentionProblem::k, &AttentionProblem::v}) {
    Tensor changed = copy_of(setting.problem.*array);
    const Shape& shape = changed.shape();
    for (std::int64_t n = 0; n < changed.size(); ++n) {
      if (n / shape[3] % shape[2] >= first) set_element(changed, n, next());
    }
    other.*array = setting.own(std::move(changed));
  }
  return other;
}

}  // namespace

double causality_error(const Subject& subject) {
  double worst = 0;
  for (const std::int64_t queries : {std::int64_t{140}, std::int64_t{9}}) {
    RandomNumbers draws = subject.draws(static_cast<std::uint64_t>(queries));
    Sizes sizes = square(140);
    sizes.queries = queries;
    Setting setting = random_setting(sizes, draws);
    setting.problem.causal = true;
    const AttentionResult before = subject.attend(setting.problem);
    for (const std::int64_t change : {1, 40, 128, 139}) {
      const std::int64_t rows = std::max<std::int64_t>(change - (140 - queries), 0);
      const AttentionProblem other =
          with_other_future(setting, change, [&] { return draws.normal(); });
      worst = std::max(
          worst, bit_distance(first_rows(subject.attend(other), rows), first_rows(before, rows)));
    }
  }
  return worst;
}

// Rows that see no key, by causality, by length and by segment: exactly 0, and -inf or the sink.
double empty_row_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Sizes sizes = square(20);
  sizes.queries = 33;  // the first 13 stand before the first key
  double worst = 0;
  for (const bool sunk : {false, true}) {
    Setting setting = random_setting(sizes, draws);
    AttentionProblem& p = setting.problem;
    p.causal = true;
    std::vector<std::int64_t> ids(33, 1);
    ids[20] = 2;  // alone with its id
    p.query_segments = setting.integers({1, 33}, ids);
    p.key_segments = setting.integers({1, 20}, std::vector<std::int64_t>(20, 1));
    if (sunk) p.sinks = setting.reals({2}, {0.75, 0.75});
    const AttentionResult result = subject.attend(p);
    AttentionResult right = first_rows(result, 14);
    right.output = Tensor::zeros(DType::float32, right.output.shape());
    right.lse = filled(DType::float32, right.lse.shape(), [&] { return sunk ? 0.75 : -kInfinity; });
    AttentionResult ours = first_rows(result, 14);
    for (const std::int64_t h : {0, 1}) {  // query 20 in the place behind the other empty rows
      ours.lse.data<float>()[h * 14 + 13] = result.lse.data<float>()[h * 33 + 20];
      for (std::int64_t e = 0; e < 16; ++e) {
        ours.output.data<float>()[(h * 14 + 13) * 16 + e] =
            result.output.data<float>()[(h * 33 + 20) * 16 + e];
      }
    }
    worst = std::max(worst, distance(ours, right));
  }
  return worst;
}

// NaN and infinity in keys and values that a row does not see leave it as it was.
double leak_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  const auto poison = [&] {
    const double values[] = {kNaN, kInfinity, -kInfinity};
    return values[draws.below(3)];
  };
  double worst = 0;
  for (const std::int64_t queries : {std::int64_t{140}, std::int64_t{9}}) {
    Sizes sizes = square(140);
    sizes.queries = queries;
    Setting setting = random_setting(sizes, draws);
    setting.problem.causal = true;
    const AttentionResult clean = subject.attend(setting.problem);
    const std::int64_t change = 135;
    const std::int64_t rows = change - (140 - queries);
    const AttentionResult poisoned = subject.attend(with_other_future(setting, change, poison));
    worst = std::max(worst, distance(first_rows(poisoned, rows), first_rows(clean, rows)));
    setting.problem.key_lengths = setting.integers({1}, {70});
    const AttentionResult padded = subject.attend(setting.problem);
    worst =
        std::max(worst, distance(subject.attend(with_other_future(setting, 70, poison)), padded));
  }
  return worst;
}

}  // namespace volvelle::properties
