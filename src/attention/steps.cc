#include "volvelle/attention/steps.h"

#include <algorithm>
#include <cstring>

#include "attention/composed_operations.h"
#include "attention/composed_vectors.h"
#include "attention/resolved.h"
#include "attention/steps_size.h"

namespace volvelle {
namespace {

// How many (B,H,T,S) matrices of the computing type are kept.
std::int64_t kept_matrices(const ResolvedAttention& r) {
  return 5 + (r.softcap > 0 ? 1 : 0) + (r.has_bias() ? 1 : 0) + (r.dropout > 0 ? 1 : 0);
}

// The part of a (B,H,...) tensor that belongs to one head; null for an absent tensor.
template <class T>
T* of_head(Tensor& tensor, std::int64_t task, std::int64_t count) {
  return tensor ? tensor.data<T>() + task * count : nullptr;
}

template <class Real>
class StepsOfHead {
 public:
  StepsOfHead(const ResolvedAttention& r, AttentionSteps& steps, std::int64_t task)
      : r_(r),
        steps_(steps),
        task_(task),
        head_(r, task / r.heads, task % r.heads),
        inputs_(dtype_of<Real>, {std::max(composed_score_inputs(r), composed_value_inputs(r))}),
        excluded_(Tensor::zeros(DType::boolean, {r.has_exclusion() ? 0 : r.queries * r.keys})),
        maxima_(dtype_of<Real>, {r.queries}) {}

  void run() {
    Real* inputs = static_cast<Real*>(inputs_.raw());
    Real* scores = matrix(steps_.scores);
    head_.scores(inputs, scores);
    Real* last = next(steps_.scaled, scores);
    head_.scale(last);
    if (r_.softcap > 0) head_.cap(last = next(steps_.capped, last));
    if (r_.has_bias()) head_.add_biases(last = next(steps_.biased, last));
    bool* excluded = excluded_.data<bool>();
    if (steps_.excluded) {
      excluded = of_head<bool>(steps_.excluded, task_, pairs());
      head_.exclude(excluded);
    }
    Real* maxima = maxima_.data<Real>();
    Real* weights = next(steps_.exponentials, last);
    head_.exponentials(weights, excluded, maxima);
    weights = next(steps_.weights, weights);
    Real* lse = of_head<Real>(steps_.lse, task_, r_.queries);
    head_.normalise(weights, excluded, maxima, lse);
    head_.entropy(weights, lse, maxima, of_head<Real>(steps_.entropy, task_, r_.queries));
    head_.row_sums(weights, of_head<Real>(steps_.row_sums, task_, r_.queries));
    head_.column_sums(weights, of_head<Real>(steps_.column_sums, task_, r_.keys));
    if (r_.dropout > 0) head_.drop(weights = next(steps_.dropped, weights));
    head_.weigh(weights, excluded, maxima, inputs,
                of_head<Real>(steps_.output, task_, r_.queries * r_.value_width));
    without_scale(scores, excluded);
  }

 private:
  std::int64_t pairs() const { return r_.queries * r_.keys; }
  Real* matrix(Tensor& tensor) { return of_head<Real>(tensor, task_, pairs()); }

  // The next step's matrix, filled with what the step before it wrote.
  Real* next(Tensor& tensor, const Real* before) {
    Real* own = matrix(tensor);
    if (pairs() > 0) std::memcpy(own, before, static_cast<std::size_t>(pairs()) * sizeof(Real));
    return own;
  }

  void without_scale(const Real* scores, const bool* excluded) {
    Real* weights = next(steps_.weights_unscaled, scores);
    Tensor lse(dtype_of<Real>, {r_.queries});
    head_.cap(weights);
    head_.add_biases(weights);
    head_.exponentials(weights, excluded, maxima_.data<Real>());
    head_.normalise(weights, excluded, maxima_.data<Real>(), lse.data<Real>());
  }

  const ResolvedAttention& r_;
  AttentionSteps& steps_;
  std::int64_t task_;
  ComposedHead<Real> head_;
  Tensor inputs_;    // q and k for the scores, then v
  Tensor excluded_;  // all false, for problems without exclusion
  Tensor maxima_;
};

AttentionSteps make_steps(const ResolvedAttention& r, DType dtype) {
  const Shape square{r.batch, r.heads, r.queries, r.keys};
  const Shape rows{r.batch, r.heads, r.queries};
  AttentionSteps steps;
  steps.scores = Tensor(dtype, square);
  steps.scaled = Tensor(dtype, square);
  if (r.softcap > 0) steps.capped = Tensor(dtype, square);
  if (r.has_bias()) steps.biased = Tensor(dtype, square);
  if (r.has_exclusion()) steps.excluded = Tensor(DType::boolean, square);
  steps.exponentials = Tensor(dtype, square);
  steps.weights = Tensor(dtype, square);
  if (r.dropout > 0) steps.dropped = Tensor(dtype, square);
  steps.weights_unscaled = Tensor(dtype, square);
  steps.row_sums = Tensor(dtype, rows);
  steps.column_sums = Tensor(dtype, {r.batch, r.heads, r.keys});
  steps.output = Tensor(dtype, {r.batch, r.heads, r.queries, r.value_width});
  steps.lse = Tensor(dtype, rows);
  steps.entropy = Tensor(dtype, rows);
  return steps;
}

}  // namespace

AttentionSteps attention_steps(const AttentionProblem& problem, std::size_t limit_bytes) {
  const ResolvedAttention r = resolve(problem);
  const bool wide = r.dtype == DType::float64;
  const auto size = static_cast<std::int64_t>(wide ? sizeof(double) : sizeof(float));
  check_steps_size("attention_steps", r, kept_matrices(r) * size + (r.has_exclusion() ? 1 : 0),
                   limit_bytes);
  AttentionSteps steps = make_steps(r, wide ? DType::float64 : DType::float32);
  for (std::int64_t task = 0; task < r.batch * r.heads; ++task) {
    if (wide) {
      StepsOfHead<double>(r, steps, task).run();
    } else {
      StepsOfHead<float>(r, steps, task).run();
    }
  }
  return steps;
}

}  // namespace volvelle
