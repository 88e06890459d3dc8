// With the oracle: what the formula says, in double, rounded once.
#include <algorithm>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/random_problem.h"

namespace volvelle::properties {
namespace {

constexpr AttentionRequest kEverything{.lse = true, .entropy = true, .column_sums = true};

AttentionResult oracle(const AttentionProblem& problem, const AttentionRequest& request = {}) {
  return attend(problem, request, {.path = AttentionPath::oracle});
}

double worst_of_random_problems(const Subject& subject, int problems, DType dtype,
                                double dropout = 0) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  for (int n = 0; n < problems; ++n) {
    Setting setting = random_problem(draws, dtype);
    AttentionProblem& p = setting.problem;
    p.dropout = dropout;
    p.dropout_seed = draws.bits();
    worst = std::max(worst, distance(subject.attend(p, kEverything), oracle(p, kEverything)));
  }
  return worst;
}

}  // namespace

double agreement_error(const Subject& subject) {
  return worst_of_random_problems(subject, 100, DType::float32);
}

double double_precision_error(const Subject& subject) {
  return worst_of_random_problems(subject, 25, DType::float64);
}

double dropout_error(const Subject& subject) {
  return worst_of_random_problems(subject, 30, DType::float32, 0.3);
}

// Also with products q . k that float16 cannot hold, and with one key far above the others.
double half_precision_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    Setting setting = random_setting({.key_heads = 2,
                                      .group = 2,
                                      .queries = 33,
                                      .keys = 140,
                                      .width = 64,
                                      .value_width = 64,
                                      .dtype = dtype},
                                     draws);
    AttentionProblem& p = setting.problem;
    p.causal = true;
    worst = std::max(worst, distance(subject.attend(p), oracle(p)));
    const Shape& shape = p.q.shape();
    p.q = setting.own(filled(dtype, shape, [&] { return 100 + 8 * draws.normal(); }));
    p.k = setting.own(filled(dtype, p.k.shape(), [&] { return 100 + 8 * draws.normal(); }));
    p.scale = 0.0003;
    worst = std::max(worst, distance(subject.attend(p), oracle(p)));
  }
  return worst;
}

}  // namespace volvelle::properties
