#include "check/gradient_tolerance.h"

#include <algorithm>
#include <cmath>

#include "check/array_size.h"

namespace volvelle {
namespace {

double root(double value) { return std::sqrt(value); }
double number(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

GradientTolerance::GradientTolerance(const ResolvedAttention& resolved,
                                     const AttentionProblem& problem, const View& grad_output)
    : r_(resolved),
      grad_weights_(root_mean_square_of(grad_output) * root_mean_square_of(problem.v) *
                    root(number(resolved.value_width))),
      q_(root_mean_square_of(problem.q)),
      k_(root_mean_square_of(problem.k)) {}

// The size of the unsigned terms of which an element is made, where they cancel.
double GradientTolerance::left_by_cancellation(GradientOf of) const {
  const double rows = number(r_.batch) * number(r_.queries);
  const double readers = number(r_.queries) * number(r_.heads / r_.key_heads);
  switch (of) {
    case GradientOf::q:
      return std::fabs(r_.scale) * grad_weights_ * k_;
    case GradientOf::k:  // the column of weights sums to readers / keys, near enough
      return std::fabs(r_.scale) * grad_weights_ * q_ *
             root(std::max(1.0, readers / number(std::max<std::int64_t>(r_.keys, 1))));
    case GradientOf::bias:
      return grad_weights_;
    case GradientOf::slopes:
      return grad_weights_ * root(rows) * number(std::max(r_.keys, r_.queries)) / 4;
    case GradientOf::bias_table:
    case GradientOf::bucket_table:
      return grad_weights_ * root(rows);
    case GradientOf::v:
    case GradientOf::sinks:
      return 0;
  }
  return 0;
}

std::int64_t GradientTolerance::terms(GradientOf of, const View& ours) const {
  const std::int64_t readers = r_.queries * (r_.heads / r_.key_heads);
  const std::int64_t pairs = r_.batch * r_.queries * r_.keys;
  switch (of) {
    case GradientOf::q:
      return r_.keys;
    case GradientOf::k:
    case GradientOf::v:
      return readers;
    case GradientOf::bias: {
      std::int64_t elements = 1;
      for (const std::int64_t size : ours.shape()) elements *= size;
      return elements == 0 ? 1 : std::max<std::int64_t>(pairs * r_.heads / elements, 1);
    }
    default:
      return pairs;
  }
}

CompareOptions GradientTolerance::options_for(const GradientPair& pair,
                                              const ExpectedGradients& given) const {
  CompareOptions options;
  options.atol = given.atol;
  options.rtol = given.rtol;
  options.width = r_.width + r_.value_width;
  options.keys = terms(pair.of, pair.ours);
  options.computed_in = r_.dtype;
  // Sums over queries are often kept in the storage type, block by block.
  const bool half = r_.dtype == DType::float16 || r_.dtype == DType::bfloat16;
  options.times = half ? 2 : 1;
  if (options.atol) return options;
  const DType theirs = pair.theirs.dtype();
  const double share =
      options.times * relative_tolerance(r_.dtype, theirs, options.width, options.keys);
  const double rounding = relative_tolerance(r_.dtype, theirs, 0, 0);  // without what sums add
  double left = left_by_cancellation(pair.of);
  if (pair.of == GradientOf::bias) {
    const View& ours = pair.ours;
    const bool keys_summed = ours.rank() == 0 || ours.shape()[ours.rank() - 1] == 1;
    const std::int64_t rows =
        keys_summed ? options.keys / std::max<std::int64_t>(r_.keys, 1) : options.keys;
    left *= root(number(std::max<std::int64_t>(rows, 1)));
  }
  options.atol = share * root_mean_square_of(pair.ours) + rounding * left;
  return options;
}

}  // namespace volvelle
