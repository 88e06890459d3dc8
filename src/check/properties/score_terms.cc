// What goes into a score, each against products that hold the finished score: there the queries are
// rows of scores and the keys a unit matrix, so that none of the options is needed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/score_matrix.h"
#include "volvelle/attention/buckets.h"

namespace volvelle::properties {
namespace {

constexpr Sizes kSizes{.key_heads = 2, .queries = 37, .keys = 140, .width = 20, .value_width = 16};

double default_scale() { return 1 / std::sqrt(static_cast<double>(kSizes.width)); }

// Every cell of (1,H,T,S): visit(h, i, j, cell).
template <class Visit>
void for_each_cell(Tensor& scores, Visit&& visit) {
  double* cell = scores.data<double>();
  for (std::int64_t h = 0; h < kSizes.heads(); ++h) {
    for (std::int64_t i = 0; i < kSizes.queries; ++i) {
      for (std::int64_t j = 0; j < kSizes.keys; ++j) visit(h, i, j, *cell++);
    }
  }
}

double against_products(const Subject& subject, const AttentionProblem& p, const Tensor& scores) {
  const Setting finished = with_scores_as_products(scores.view(), p.v);
  return distance(subject.attend(p), subject.attend(finished.problem));
}

double value(const View& table, std::int64_t row, std::int64_t column) {
  return element_as_double(table, row * table.strides()[0] + column);
}

}  // namespace

double scaling_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  const Setting setting = random_setting(kSizes, draws);
  return against_products(subject, setting.problem,
                          scaled_products(setting.problem, default_scale()));
}

double bias_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(kSizes, draws);
  AttentionProblem& p = setting.problem;
  const auto unit = [&] { return draws.unit(); };
  const std::int64_t heads = kSizes.heads();
  constexpr std::int64_t kReach = 9, kBuckets = 16, kFar = 40;
  p.bias = setting.own(filled(DType::float32, {heads, kSizes.queries, kSizes.keys}, unit));
  p.slopes = setting.reals({heads}, {0.0625, 0.015625});
  p.bias_table = setting.own(filled(DType::float32, {heads, 2 * kReach + 1}, unit));
  p.bucket_table = setting.own(filled(DType::float32, {heads, kBuckets}, unit));
  p.buckets = Buckets::two_way;
  p.max_distance = kFar;
  Tensor scores = scaled_products(p, default_scale());
  for_each_cell(scores, [&](std::int64_t h, std::int64_t i, std::int64_t j, double& cell) {
    const std::int64_t offset = j - (i + kSizes.keys - kSizes.queries);
    cell += element_as_double(p.bias, (h * kSizes.queries + i) * kSizes.keys + j);
    cell -= element_as_double(p.slopes, h) * static_cast<double>(std::abs(offset));
    cell += value(p.bias_table, h, std::clamp(offset, -kReach, kReach) + kReach);
    cell += value(p.bucket_table, h, bucket_of(offset, Buckets::two_way, kBuckets, kFar));
  });
  return against_products(subject, p, scores);
}

double cap_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(kSizes, draws);
  setting.problem.scale = 1;  // scores well beyond the cap
  setting.problem.softcap = 3;
  Tensor scores = scaled_products(setting.problem, 1);
  for_each_cell(scores, [](std::int64_t, std::int64_t, std::int64_t, double& cell) {
    cell = 3 * std::tanh(cell / 3);
  });
  return against_products(subject, setting.problem, scores);
}

// A sink is a key of that score whose value is 0.
double sink_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(kSizes, draws);
  AttentionProblem& p = setting.problem;
  p.sinks = setting.reals({kSizes.heads()}, {4.5, -0.5});
  const Tensor scores = scaled_products(p, default_scale());
  Sizes longer = kSizes;
  ++longer.keys;
  Tensor with_key(DType::float64, {1, longer.heads(), longer.queries, longer.keys});
  Tensor values = Tensor::zeros(DType::float32, {1, longer.heads(), longer.keys, 16});
  for (std::int64_t h = 0; h < longer.heads(); ++h) {
    for (std::int64_t i = 0; i < longer.queries; ++i) {
      for (std::int64_t j = 0; j < longer.keys; ++j) {
        const std::int64_t row = h * longer.queries + i;
        with_key.data<double>()[row * longer.keys + j] =
            j < kSizes.keys ? scores.data<double>()[row * kSizes.keys + j]
                            : element_as_double(p.sinks, h);
      }
    }
    for (std::int64_t n = 0; n < kSizes.keys * 16; ++n) {
      values.data<float>()[h * longer.keys * 16 + n] =
          static_cast<float>(element_as_double(p.v, h * kSizes.keys * 16 + n));
    }
  }
  const Setting finished = with_scores_as_products(with_key.view(), values.view());
  return distance(subject.attend(p), subject.attend(finished.problem));
}

// Values of 1 everywhere give outputs of 1, and all columns together as many as there are rows.
double softmax_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(kSizes, draws);
  AttentionProblem& p = setting.problem;
  const Shape& shape = p.v.shape();
  p.v = setting.own(filled(DType::float32, shape, [] { return 1.0; }));
  const AttentionResult result = subject.attend(p, {.column_sums = true});
  const Tensor ones = filled(DType::float32, result.output.shape(), [] { return 1.0; });
  double sum = 0;
  for (std::int64_t n = 0; n < result.column_sums.size(); ++n) {
    sum += element_as_double(result.column_sums.view(), n);
  }
  const auto rows = static_cast<double>(kSizes.heads() * kSizes.queries);
  return std::max(distance(result.output.view(), ones.view()), std::fabs(sum / rows - 1));
}

// Scores in steps of 1/8, so that adding 4096 to all of them is exact: the output stays, the
// log-sum-exp moves by that.
double shift_error(const Subject& subject) {
  constexpr double kShift = 4096;
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting(kSizes, draws);
  Tensor scores(DType::float64, {1, kSizes.heads(), kSizes.queries, kSizes.keys});
  for_each_cell(scores, [&](std::int64_t, std::int64_t, std::int64_t, double& cell) {
    cell = static_cast<double>(draws.below(128) - 64) / 8;
  });
  const AttentionResult right =
      subject.attend(with_scores_as_products(scores.view(), setting.problem.v).problem);
  for_each_cell(scores,
                [](std::int64_t, std::int64_t, std::int64_t, double& cell) { cell += kShift; });
  const AttentionResult ours =
      subject.attend(with_scores_as_products(scores.view(), setting.problem.v).problem);
  double worst = distance(ours.output.view(), right.output.view());
  Tensor moved = copy_of(right.lse.view());
  for (std::int64_t n = 0; n < moved.size(); ++n) moved.data<float>()[n] += kShift;
  return std::max(worst, distance(ours.lse.view(), moved.view()));
}

double grouped_heads_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = random_setting({.batch = 2,
                                    .key_heads = 2,
                                    .group = 3,
                                    .queries = 37,
                                    .keys = 140,
                                    .width = 20,
                                    .value_width = 16},
                                   draws);
  AttentionProblem repeated = setting.problem;
  repeated.k = setting.own(gathered(setting.problem.k, 1, {0, 0, 0, 1, 1, 1}));
  repeated.v = setting.own(gathered(setting.problem.v, 1, {0, 0, 0, 1, 1, 1}));
  return distance(subject.attend(setting.problem), subject.attend(repeated));
}

}  // namespace volvelle::properties
