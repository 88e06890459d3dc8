#include "measure/sampled_check.h"

#include <string>
#include <vector>

#include "attention/oracle.h"
#include "attention/resolved.h"
#include "measure/sampled_rows.h"
#include "volvelle/base/error.h"
#include "volvelle/check/compare.h"

namespace volvelle {

double check_sampled_rows(const AttentionProblem& problem, const View& output) {
  const ResolvedAttention r = resolve(problem);
  const std::vector<SampledRow> rows = sampled_rows(r.batch, r.heads, r.queries);
  const auto count = static_cast<std::int64_t>(rows.size());
  if (count == 0) return 0;
  std::vector<QueryRow> queries;
  for (const SampledRow& row : rows) queries.push_back({row.batch, row.head, row.index});
  Tensor wanted(DType::float64, {count, r.value_width});
  attend_oracle_rows(r, queries, wanted.data<double>());
  const Tensor found = rows_of(output, rows);
  const Comparison compared = compare(wanted.view(), found.view(),
                                      {.width = r.width, .keys = r.keys, .computed_in = r.dtype});
  if (!compared.matches) {
    throw InternalError("[bench] attention differs from the oracle by " +
                        std::to_string(compared.max_abs) + " in " +
                        std::to_string(compared.failing_rows) + " of " + std::to_string(count) +
                        " sampled rows; please report this");
  }
  return compared.max_abs;
}

}  // namespace volvelle
