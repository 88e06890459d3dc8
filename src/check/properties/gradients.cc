// Gradients of sum(grad_output * output) by everything that goes into attention.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check/properties/distance.h"
#include "check/properties/gradient_oracle.h"
#include "check/properties/gradient_settings.h"
#include "check/properties/measurements.h"
#include "check/properties/random_problem.h"
#include "check/properties/setting.h"
#include "check/row_difference.h"

namespace volvelle::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Queries that see nothing: the first 13 stand before the first key, query 20 has an id of its own.
// Keys that nobody sees: the last 3 are padding.
struct Unseen {
  Setting setting;
  View grad_output;
  static constexpr std::int64_t kQueries = 33, kKeys = 20, kLength = 17;
  static bool query_is_blind(std::int64_t i) { return i < 13 || i == 20; }
  static bool key_is_unseen(std::int64_t j) { return j >= kLength; }
};

Unseen with_unseen(RandomNumbers& draws) {
  const Sizes sizes{.key_heads = 2, .queries = Unseen::kQueries, .keys = Unseen::kKeys};
  Unseen made{random_setting(sizes, draws), {}};
  AttentionProblem& p = made.setting.problem;
  p.causal = true;
  std::vector<std::int64_t> ids(Unseen::kQueries, 1);
  ids[20] = 2;
  p.query_segments = made.setting.integers({1, Unseen::kQueries}, ids);
  p.key_segments =
      made.setting.integers({1, Unseen::kKeys}, std::vector<std::int64_t>(Unseen::kKeys, 1));
  p.key_lengths = made.setting.integers({1}, {Unseen::kLength});
  for (View AttentionProblem::* array : {&AttentionProblem::k, &AttentionProblem::v}) {
    Tensor poisoned = copy_of(p.*array);
    for (std::int64_t n = 0; n < poisoned.size(); ++n) {
      if (Unseen::key_is_unseen(n / 16 % Unseen::kKeys)) set_element(poisoned, n, kInfinity);
    }
    p.*array = made.setting.own(std::move(poisoned));
  }
  made.grad_output = gradient_of_output(made.setting, draws);
  return made;
}

// The oracle's gradients in the order of kGradients, each element with the sum of the magnitudes of
// its terms behind it.
std::vector<double> oracle_reference(const AttentionProblem& p, const View& grad_output) {
  const AttentionGradientResult right = oracle_gradients(p, grad_output);
  const AttentionGradientResult magnitudes =
      oracle_gradients(p, grad_output, BackwardFault::none, GradientSum::magnitudes);
  std::vector<double> reference;
  for (const auto each : kGradients) {
    for (std::int64_t n = 0; n < (right.*each).size(); ++n) {
      reference.push_back(element_as_double((right.*each).view(), n));
      reference.push_back(element_as_double((magnitudes.*each).view(), n));
    }
  }
  return reference;
}

// The largest difference from the oracle as a share of an element's magnitude (of 1% at least):
// what rounding errors are a share of.
double beside_oracle(const Subject& subject, int problem, const AttentionProblem& p,
                     const View& grad_output) {
  constexpr double kFloor = 0.01;
  const std::vector<double>& reference = subject.reference(
      "problem " + std::to_string(problem), [&] { return oracle_reference(p, grad_output); });
  const AttentionGradientResult ours = subject.gradients(p, grad_output);
  std::int64_t elements = 0;
  for (const auto each : kGradients) elements += (ours.*each).size();
  if (2 * static_cast<std::size_t>(elements) != reference.size())
    return kInfinity;  // one is absent
  double worst = 0;
  std::size_t at = 0;
  for (const auto each : kGradients) {
    for (std::int64_t n = 0; n < (ours.*each).size(); ++n, at += 2) {
      const double apart = difference(element_as_double((ours.*each).view(), n), reference[at]);
      worst = std::max(worst, apart / std::max(reference[at + 1], kFloor));
    }
  }
  return worst;
}

// Every gradient of random problems beside the oracle's.
double worst_of_random_problems(const Subject& subject, int problems, double dropout) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  for (int n = 0; n < problems; ++n) {
    Setting setting = random_problem(draws);
    const View grad_output = gradient_of_output(setting, draws);
    AttentionProblem& p = setting.problem;
    p.dropout = dropout;
    p.dropout_seed = draws.bits();
    worst = std::max(worst, beside_oracle(subject, n, p, grad_output));
  }
  return worst;
}

}  // namespace

double gradient_agreement_error(const Subject& subject) {
  return worst_of_random_problems(subject, 40, 0);
}

double dropout_gradient_error(const Subject& subject) {
  return worst_of_random_problems(subject, 15, 0.3);
}

double half_gradient_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  int n = 0;
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    Setting setting = random_setting({.key_heads = 2,
                                      .group = 2,
                                      .queries = 33,
                                      .keys = 140,
                                      .width = 32,
                                      .value_width = 32,
                                      .dtype = dtype},
                                     draws);
    AttentionProblem& p = setting.problem;
    p.causal = true;
    const View grad_output = gradient_of_output(setting, draws);
    worst = std::max(worst, beside_oracle(subject, n++, p, grad_output));
  }
  return worst;
}

// The largest gradient where there must be none; what is not finite anywhere counts as well.
double unseen_gradient_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  const Unseen made = with_unseen(draws);
  const AttentionGradientResult ours = subject.gradients(made.setting.problem, made.grad_output);
  double worst = 0;
  const auto look = [&](const Tensor& gradient, std::int64_t rows, auto&& none) {
    for (std::int64_t n = 0; n < gradient.size(); ++n) {
      const double value = std::fabs(element_as_double(gradient.view(), n));
      if (!std::isfinite(value)) worst = kInfinity;
      if (none(n / 16 % rows)) worst = std::max(worst, value);
    }
  };
  look(ours.q, Unseen::kQueries, Unseen::query_is_blind);
  look(ours.k, Unseen::kKeys, Unseen::key_is_unseen);
  look(ours.v, Unseen::kKeys, Unseen::key_is_unseen);
  return worst;
}

double gradient_thread_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  for (const auto make : {with_every_gradient, with_many_queries}) {
    Setting setting = make(draws);
    const View grad_output = gradient_of_output(setting, draws);
    Subject few = subject;
    few.options.threads = 1;
    const AttentionGradientResult alone = few.gradients(setting.problem, grad_output);
    for (int threads = 2; threads <= 8; ++threads) {
      few.options.threads = threads;
      worst = std::max(worst, bit_distance(few.gradients(setting.problem, grad_output), alone));
    }
  }
  return worst;
}

// The gradients that have a batch axis, of a row alone and in its batch.
double gradient_neighbour_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = with_every_gradient(draws);
  const View grad_output = gradient_of_output(setting, draws);
  const AttentionProblem& p = setting.problem;
  const AttentionGradientResult whole = subject.gradients(p, grad_output);
  double worst = 0;
  for (std::int64_t b = 0; b < 2; ++b) {
    AttentionProblem alone = p;
    alone.q = slice(p.q, 0, b, 1);
    alone.k = slice(p.k, 0, b, 1);
    alone.v = slice(p.v, 0, b, 1);
    alone.key_lengths = slice(p.key_lengths, 0, b, 1);
    const AttentionGradientResult one = subject.gradients(alone, slice(grad_output, 0, b, 1));
    worst = std::max({worst, bit_distance(one.q.view(), slice(whole.q.view(), 0, b, 1)),
                      bit_distance(one.k.view(), slice(whole.k.view(), 0, b, 1)),
                      bit_distance(one.v.view(), slice(whole.v.view(), 0, b, 1))});
  }
  return worst;
}

}  // namespace volvelle::properties
