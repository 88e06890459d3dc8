#include "support/routes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "attention/composed.h"
#include "kernels/simd_choice.h"
#include "support/arrays.h"
#include "volvelle/attention/simd.h"

namespace volvelle::testing {
namespace {

Answer room_for(const ResolvedAttention& r) {
  const DType statistic = r.dtype == DType::float64 ? DType::float64 : DType::float32;
  Answer answer;
  answer.output = Tensor(r.dtype, {r.batch, r.heads, r.queries, r.value_width});
  answer.lse = Tensor(statistic, {r.batch, r.heads, r.queries});
  answer.entropy = Tensor(statistic, {r.batch, r.heads, r.queries});
  answer.column_sums = Tensor(statistic, {r.batch, r.heads, r.keys});
  return answer;
}

AttentionOutputs outputs_of(Answer& answer) {
  return {.output = answer.output.mutable_view(),
          .lse = answer.lse.mutable_view(),
          .entropy = answer.entropy.mutable_view(),
          .column_sums = answer.column_sums.mutable_view()};
}

// The largest finite magnitude; what is not finite is behind the mask or meant to show.
double largest(const View& view) {
  double most = 0;
  for (const double value : values_of(view)) {
    if (std::isfinite(value)) most = std::max(most, std::fabs(value));
  }
  return most;
}

double root_mean_square(const View& view) {
  double sum = 0;
  std::int64_t count = 0;
  for (const double value : values_of(view)) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

// Compares (B,H,rows,width); `allowed(row)` is asked once per row.
template <class AllowedOfRow>
std::string first_difference(const char* name, const Tensor& ours, const Tensor& right,
                             std::int64_t width, AllowedOfRow&& allowed_of_row) {
  const std::vector<double> a = values_of(ours.view());
  const std::vector<double> b = values_of(right.view());
  Allowed allowed;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const std::size_t row = n / static_cast<std::size_t>(width);
    if (n % static_cast<std::size_t>(width) == 0) allowed = allowed_of_row(row);
    if (near(a[n], b[n], allowed)) continue;
    std::ostringstream text;
    text.precision(17);
    text << name << to_string(ours.shape()) << " row " << row << " element "
         << n % static_cast<std::size_t>(width) << ": " << a[n] << ", right " << b[n]
         << ", allowed " << allowed.absolute << " + " << allowed.relative << " * |right|";
    return text.str();
  }
  return {};
}

}  // namespace

SimdScope::SimdScope(const std::string& target) {
  set_simd_target(target);
  if (target != "best" && simd_target() != target)
    throw std::logic_error(target + " was not taken");
}

SimdScope::~SimdScope() { set_simd_target("best"); }

std::vector<Route> fused_routes() {
  std::vector<Route> all;
  for (const std::string& target : simd_targets()) {
    all.push_back({"fused on " + target, AttentionPath::fused, target});
  }
  return all;
}

std::vector<Route> routes() {
  std::vector<Route> all = fused_routes();
  all.push_back({"composed", AttentionPath::composed, {}});
  return all;
}

std::vector<Route> routes_of(const AttentionProblem& problem) {
  if (explain(problem).path == AttentionPath::fused) return routes();
  return {{"composed", AttentionPath::composed, {}}};
}

Answer oracle_answer(const AttentionProblem& problem, AttentionFault fault) {
  const ResolvedAttention resolved = resolve(problem);
  Answer answer = room_for(resolved);
  attend_oracle(resolved, resolve_outputs(resolved, problem, outputs_of(answer)), fault);
  return answer;
}

bool rounds_weights(DType dtype, const Route& route) {
  return route.path == AttentionPath::fused && dtype == DType::bfloat16 &&
         kernels::pair_multiplier() != nullptr;
}

Answer answer(const AttentionProblem& problem, const Route& route, int threads) {
  const AttentionOptions options{.path = route.path, .threads = threads};
  const SimdScope scope(route.simd.empty() ? "best" : route.simd);
  const AttentionPlan plan = explain(problem, options);
  if (plan.path != route.path || (!route.simd.empty() && plan.simd != route.simd)) {
    throw std::logic_error(route.name + " was forced but does not run: " + plan.reason);
  }
  Answer answer = room_for(resolve(problem));
  answer.rounded_weights = rounds_weights(problem.q.dtype(), route);
  attend(problem, outputs_of(answer), options);
  return answer;
}

bool near(double ours, double right, const Allowed& allowed) {
  if (std::isnan(right)) return std::isnan(ours);
  if (std::isinf(right)) return ours == right;
  return std::fabs(ours - right) <= allowed.absolute + allowed.relative * std::fabs(right);
}

Sizes sizes_of(const AttentionProblem& problem, const Answer& right) {
  const ResolvedAttention r = resolve(problem);
  double worst = 0;
  for (const double of_row : values_of(right.lse.view())) {
    if (std::isfinite(of_row)) worst = std::max(worst, std::fabs(of_row));
  }
  const double q = root_mean_square(problem.q);
  const double k = root_mean_square(problem.k);
  const auto of = [](const View& vectors) { return vectors ? root_mean_square(vectors) : 0.0; };
  const double terms = std::fabs(r.scale) * static_cast<double>(r.width) *
                       (q * k + q * of(problem.relative_keys) + k * of(problem.relative_queries));
  const double value =
      largest(problem.v) + (problem.relative_values ? largest(problem.relative_values) : 0.0);
  Sizes sizes{r.dtype, terms, r.keys, worst + r.softcap, value, r.value_width};
  const bool half = r.dtype == DType::float16 || r.dtype == DType::bfloat16;
  if (half && r.rotary.any()) {
    sizes.rounded_turns = std::min(1.0, 4 / static_cast<double>(r.width));
  }
  return sizes;
}

std::string difference(const AttentionProblem& problem, const Answer& ours, const Answer& right) {
  const ResolvedAttention r = resolve(problem);
  const std::vector<double> lse = values_of(right.lse.view());
  Sizes sizes = sizes_of(problem, right);
  const double worst = sizes.logit - r.softcap;
  sizes.value /= 1 - r.dropout;  // as the weights that dropout keeps
  sizes.rounded_weights = ours.rounded_weights;
  // A row's scores are about as large as its log-sum-exp, or as the cap that formed them.
  const auto of_row = [&](std::size_t row) {
    sizes.logit = (std::isfinite(lse[row]) ? std::fabs(lse[row]) : worst) + r.softcap;
    return sizes;
  };
  const std::string columns =
      first_difference("column_sums", ours.column_sums, right.column_sums, 1,
                       [&](std::size_t) { return allowed_column_sum(sizes); });
  if (!columns.empty()) return columns;
  const std::string output =
      first_difference("output", ours.output, right.output, r.value_width,
                       [&](std::size_t row) { return allowed_output(of_row(row)); });
  if (!output.empty()) return output;
  const std::string log_sum = first_difference(
      "lse", ours.lse, right.lse, 1, [&](std::size_t row) { return allowed_lse(of_row(row)); });
  if (!log_sum.empty()) return log_sum;
  return first_difference("entropy", ours.entropy, right.entropy, 1,
                          [&](std::size_t row) { return allowed_entropy(of_row(row)); });
}

std::string bit_difference(const Answer& a, const Answer& b) {
  const auto same = [](const Tensor& x, const Tensor& y) {
    return x.bytes() == y.bytes() && std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
  };
  if (!same(a.output, b.output)) return "output";
  if (!same(a.lse, b.lse)) return "lse";
  if (!same(a.entropy, b.entropy)) return "entropy";
  if (!same(a.column_sums, b.column_sums)) return "column_sums";
  return {};
}

}  // namespace volvelle::testing
