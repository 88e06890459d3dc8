#include "volvelle/attention/backward_steps.h"

#include <cmath>
#include <limits>
#include <string>

#include "attention/dropout.h"
#include "attention/oracle_terms.h"
#include "attention/resolved.h"
#include "attention/steps_size.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMatrices = 3;

void refuse(const std::string& message) {
  throw InvalidArgument("[attention_backward_steps] " + message);
}

// grad_output on the problem's axes.
Strided4 laid_out(const View& grad_output, const ResolvedAttention& r) {
  const Shape wanted{r.batch, r.heads, r.queries, r.value_width};
  Shape shape = grad_output.shape();
  const bool leading = grad_output && shape.rank() >= 2 && shape.rank() <= 4;
  const int missing = leading ? 4 - shape.rank() : 0;
  bool fits = leading && is_floating(grad_output.dtype());
  for (int axis = 0; fits && axis < 4; ++axis) {
    fits = wanted[axis] == (axis < missing ? 1 : shape[axis - missing]);
  }
  if (!fits) {
    refuse("grad_output must be a floating array of the output's shape (B,H,T,E) = " +
           to_string(wanted) + ", not " +
           (grad_output ? std::string(name_of(grad_output.dtype())) + ' ' + to_string(shape)
                        : std::string("absent")));
  }
  Strided4 result{.data = grad_output.data(), .dtype = grad_output.dtype(), .present = true};
  for (int axis = missing; axis < 4; ++axis) {
    result.stride[axis] = wanted[axis] == 1 ? 0 : grad_output.strides()[axis - missing];
  }
  return result;
}

void check_forward(const ResolvedAttention& r, const AttentionSteps& forward, DType dtype) {
  const Shape square{r.batch, r.heads, r.queries, r.keys};
  const auto fits = [&](const Tensor& step) {
    return step && step.dtype() == dtype && step.shape() == square;
  };
  const bool all = fits(forward.weights) && fits(forward.scaled) &&
                   (r.softcap > 0) == static_cast<bool>(forward.capped) &&
                   r.has_bias() == static_cast<bool>(forward.biased) &&
                   r.has_exclusion() == static_cast<bool>(forward.excluded);
  if (!all) {
    refuse("the forward steps are not those of this problem, (B,H,T,S) = " + to_string(square) +
           "; give what attention_steps makes of it");
  }
}

/// One query of one head.
template <class Real>
class RowBack {
 public:
  RowBack(const ResolvedAttention& r, const AttentionSteps& forward, const Strided4& grad_output,
          AttentionBackwardSteps& steps)
      : r_(r), grad_output_(grad_output) {
    weights_ = forward.weights.data<Real>();
    scaled_ = forward.scaled.data<Real>();
    const Tensor& last = forward.biased   ? forward.biased
                         : forward.capped ? forward.capped
                                          : forward.scaled;
    scores_ = last.data<Real>();
    if (forward.excluded) excluded_ = forward.excluded.data<bool>();
    grad_weights_ = steps.grad_weights.data<Real>();
    grad_scores_ = steps.grad_scores.data<Real>();
    grad_products_ = steps.grad_products.data<Real>();
    delta_ = steps.delta.data<Real>();
  }

  void run(std::int64_t b, std::int64_t h, std::int64_t i) const {
    const std::int64_t row = (b * r_.heads + h) * r_.queries + i;
    const std::int64_t first = row * r_.keys;
    delta_[row] = 0;
    bool empty = true;
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      const std::int64_t at = first + j;
      grad_weights_[at] = grad_scores_[at] = grad_products_[at] = 0;
      empty = empty && (hidden(at) || scores_[at] == -std::numeric_limits<Real>::infinity());
    }
    if (empty) return;
    const auto stream = dropout_stream(r_, b, h);
    double delta = 0;
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      const std::int64_t at = first + j;
      if (hidden(at)) continue;
      const double factor = r_.dropout > 0 ? dropout_factor(stream, i, j) : 1;
      const double grad = factor == 0 ? 0 : factor * dot(b, h, i, j);
      grad_weights_[at] = static_cast<Real>(grad);
      delta += static_cast<double>(weights_[at]) * grad;
    }
    delta_[row] = static_cast<Real>(delta);
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      const std::int64_t at = first + j;
      if (hidden(at)) continue;
      const double grad =
          static_cast<double>(weights_[at]) * (static_cast<double>(grad_weights_[at]) - delta);
      grad_scores_[at] = static_cast<Real>(grad);
      grad_products_[at] = static_cast<Real>(grad * cap_slope(at) * r_.scale);
    }
  }

 private:
  bool hidden(std::int64_t at) const { return excluded_ != nullptr && excluded_[at]; }
  double cap_slope(std::int64_t at) const {
    if (!(r_.softcap > 0)) return 1;
    const double tanh = std::tanh(static_cast<double>(scaled_[at]) / r_.softcap);
    return 1 - tanh * tanh;
  }
  double dot(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t e = 0; e < r_.value_width; ++e) {
      sum += element(grad_output_, grad_output_.offset(b, h, i, e)) *
             element(r_.v, r_.v.offset(b, r_.key_head(h), j, e));
      if (!r_.relative_values.present()) continue;
      sum += element(grad_output_, grad_output_.offset(b, h, i, e)) *
             relative_element(r_, r_.relative_values, {b, h, i, j}, e);
    }
    return sum;
  }

  const ResolvedAttention& r_;
  const Strided4& grad_output_;
  const Real *weights_ = nullptr, *scaled_ = nullptr, *scores_ = nullptr;
  const bool* excluded_ = nullptr;
  Real *grad_weights_ = nullptr, *grad_scores_ = nullptr, *grad_products_ = nullptr;
  Real* delta_ = nullptr;
};

template <class Real>
void run_rows(const ResolvedAttention& r, const AttentionSteps& forward,
              const Strided4& grad_output, AttentionBackwardSteps& steps) {
  const RowBack<Real> row(r, forward, grad_output, steps);
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t h = 0; h < r.heads; ++h) {
      for (std::int64_t i = 0; i < r.queries; ++i) row.run(b, h, i);
    }
  }
}

}  // namespace

AttentionBackwardSteps attention_backward_steps(const AttentionProblem& problem,
                                                const AttentionSteps& forward,
                                                const View& grad_output, std::size_t limit_bytes) {
  const ResolvedAttention r = resolve(problem);
  const bool wide = r.dtype == DType::float64;
  const DType dtype = wide ? DType::float64 : DType::float32;
  const Strided4 given = laid_out(grad_output, r);
  check_forward(r, forward, dtype);
  check_steps_size("attention_backward_steps", r,
                   kMatrices * static_cast<std::int64_t>(size_of(dtype)), limit_bytes);
  const Shape square{r.batch, r.heads, r.queries, r.keys};
  AttentionBackwardSteps steps{.grad_weights = Tensor(dtype, square),
                               .delta = Tensor(dtype, {r.batch, r.heads, r.queries}),
                               .grad_scores = Tensor(dtype, square),
                               .grad_products = Tensor(dtype, square)};
  if (wide) {
    run_rows<double>(r, forward, given, steps);
  } else {
    run_rows<float>(r, forward, given, steps);
  }
  return steps;
}

}  // namespace volvelle
