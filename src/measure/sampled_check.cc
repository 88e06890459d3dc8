#include "measure/sampled_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attention/oracle.h"
#include "attention/resolved.h"
#include "volvelle/base/error.h"
#include "volvelle/check/compare.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

std::vector<QueryRow> sample(const ResolvedAttention& r) {
  constexpr std::int64_t kRows = 24;
  const std::int64_t all = r.batch * r.heads * r.queries;
  std::vector<QueryRow> rows;
  for (std::int64_t i = 0; i < std::min(all, kRows); ++i) {
    std::int64_t at = i;
    if (all > kRows) {
      const double turn = static_cast<double>(i) * 0.61803398874989485;  // spreads evenly
      at = static_cast<std::int64_t>((turn - std::floor(turn)) * static_cast<double>(all));
    }
    QueryRow row{at / r.queries / r.heads, at / r.queries % r.heads, at % r.queries};
    if (i % 8 == 1) row.query = 0;
    if (i % 8 == 2) row.query = r.queries - 1;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

double check_sampled_rows(const AttentionProblem& problem, const View& output) {
  const ResolvedAttention r = resolve(problem);
  const std::vector<QueryRow> rows = sample(r);
  const auto count = static_cast<std::int64_t>(rows.size());
  if (count == 0) return 0;
  Tensor wanted(DType::float64, {count, r.value_width});
  attend_oracle_rows(r, rows, wanted.data<double>());
  Tensor found(DType::float64, {count, r.value_width});
  const Strides& s = output.strides();
  for (std::int64_t i = 0; i < count; ++i) {
    const QueryRow& row = rows[static_cast<std::size_t>(i)];
    for (std::int64_t e = 0; e < r.value_width; ++e) {
      found.data<double>()[i * r.value_width + e] = element_as_double(
          output, row.batch * s[0] + row.head * s[1] + row.query * s[2] + e * s[3]);
    }
  }
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
