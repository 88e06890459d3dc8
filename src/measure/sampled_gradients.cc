#include "measure/sampled_gradients.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attention/oracle_backward.h"
#include "measure/sampled_rows.h"
#include "volvelle/base/error.h"
#include "volvelle/check/compare.h"

namespace volvelle {
namespace {

double root_mean_square(const Tensor& numbers) {
  double sum = 0;
  for (std::int64_t i = 0; i < numbers.size(); ++i) {
    sum += numbers.data<double>()[i] * numbers.data<double>()[i];
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(numbers.size(), 1)));
}

// Where a row sees few keys, dP and delta cancel, and what is left of the row is rounding: of both
// in the computing type, and of the saved output, which delta is made of, in the storage type.
// Both have the size of sqrt(E) for inputs of unit variance.
double left_by_cancelling(const ResolvedAttention& r) {
  const double computing = r.dtype == DType::float64 ? 0x1p-53 : 0x1p-24;
  const double storage = r.dtype == DType::bfloat16  ? 0x1p-8
                         : r.dtype == DType::float16 ? 0x1p-11
                                                     : computing;
  return std::max(8 * computing, 2 * storage) * r.scale *
         std::sqrt(static_cast<double>(r.value_width));
}

double checked(const char* name, const ResolvedAttention& r, const Tensor& wanted,
               const Tensor& found, std::int64_t terms) {
  const double share = relative_tolerance(r.dtype, r.dtype, r.width, terms);
  const double atol = share * root_mean_square(wanted) + left_by_cancelling(r);
  const Comparison compared =
      compare(wanted.view(), found.view(),
              {.atol = atol, .width = r.width, .keys = terms, .computed_in = r.dtype});
  if (!compared.matches) {
    throw InternalError("[bench] the gradient of " + std::string(name) +
                        " differs from the oracle by " + std::to_string(compared.max_abs) + " in " +
                        std::to_string(compared.failing_rows) + " of " +
                        std::to_string(compared.rows) + " sampled rows; please report this");
  }
  return compared.max_abs;
}

}  // namespace

double check_sampled_gradients(const AttentionProblem& problem, const AttentionSaved& saved,
                               const View& grad_output, const AttentionGradients& gradients) {
  const ResolvedAttention r = resolve(problem);
  const ResolvedBackward backward = resolve_backward(r, problem, saved, grad_output, gradients);

  const std::vector<SampledRow> query_rows = sampled_rows(r.batch, r.heads, r.queries);
  std::vector<QueryRow> queries;
  for (const SampledRow& row : query_rows) queries.push_back({row.batch, row.head, row.index});
  Tensor q(DType::float64, {static_cast<std::int64_t>(queries.size()), r.width});
  attend_backward_oracle_queries(r, backward, queries, q.data<double>());

  // With the saved statistics: anew they would take a whole head's forward pass for each key. The
  // rows of the output were compared with the oracle before.
  const std::vector<SampledRow> key_rows = sampled_rows(r.batch, r.key_heads, r.keys);
  std::vector<KeyRow> keys;
  for (const SampledRow& row : key_rows) keys.push_back({row.batch, row.head, row.index});
  const auto count = static_cast<std::int64_t>(keys.size());
  Tensor k(DType::float64, {count, r.width});
  Tensor v(DType::float64, {count, r.value_width});
  attend_backward_oracle_keys(r, backward, keys, k.data<double>(), v.data<double>(),
                              RowStatistics::saved);

  const std::int64_t group = r.heads / r.key_heads;
  return std::max({checked("q", r, q, rows_of(gradients.q, query_rows), r.keys),
                   checked("k", r, k, rows_of(gradients.k, key_rows), r.queries * group),
                   checked("v", r, v, rows_of(gradients.v, key_rows), r.queries * group)});
}

}  // namespace volvelle
