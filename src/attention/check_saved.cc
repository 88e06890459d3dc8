#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/oracle.h"
#include "attention/oracle_terms.h"
#include "attention/oracle_turns.h"
#include "attention/resolve_layout.h"
#include "attention/resolved_backward.h"

namespace volvelle {
namespace {

constexpr std::int64_t kRowsPerLook = 16384;
constexpr std::int64_t kMostLooks = 8;
constexpr double kNear = 1e-4;  // near enough whatever the numbers
// The fused path holds scores in base 2 within the range of float: beyond this they are one.
constexpr double kHeld = 2e38;

// Longest head vector of a set of rows, NaN and infinity left out; with it |q| |k| bounds the sum
// of a score's terms.
double longest_vector(const Strided4& array, std::int64_t b, std::int64_t h, std::int64_t first,
                      std::int64_t rows, std::int64_t width) {
  double most = 0;
  for (std::int64_t i = first; i < first + rows; ++i) {
    double sum = 0;
    for (std::int64_t d = 0; d < width; ++d) {
      const double value = element(array, array.offset(b, h, i, d));
      sum += value * value;
    }
    if (std::isfinite(sum)) most = std::max(most, sum);
  }
  return std::sqrt(most);
}

// What rounding may move a row's log-sum-exp by, with room for kernels that multiply queries and
// keys in the storage type. Another problem's is off by far more.
double allowed(const ResolvedAttention& r, const QueryRow& at, double lse) {
  OracleTurns turns(r);
  turns.select_query(at.batch, at.head, at.query);
  const ResolvedAttention& turned = turns.problem();
  const double q = longest_vector(turned.q, at.batch, at.head, at.query, 1, r.width);
  const double k = longest_vector(turned.k, at.batch, r.key_head(at.head), 0, r.keys, r.width);
  const auto longest = [&](const RelativeVectors& vectors) {
    return vectors.present() ? longest_vector(vectors.rows, at.batch, at.head, vectors.first,
                                              vectors.count, r.width)
                             : 0.0;
  };
  const double terms =
      std::fabs(r.scale) * (q * k + q * longest(r.relative_keys) + k * longest(r.relative_queries));
  const bool half = r.dtype == DType::float16 || r.dtype == DType::bfloat16;
  const double roundoff = r.dtype == DType::float64 ? 0x1p-53 : 0x1p-24;
  const double steps =
      64 + 8 * terms + std::sqrt(static_cast<double>(r.keys)) + 8 * std::fabs(lse) + 8 * r.softcap;
  return kNear + 16 * steps * roundoff + (half ? 0x1p-8 * terms : 0.0);
}

}  // namespace

void check_saved(const ResolvedAttention& r, const ResolvedBackward& backward) {
  const std::int64_t rows = r.batch * r.heads * r.queries;
  if (rows == 0) return;
  const std::int64_t looks = std::clamp<std::int64_t>(rows / kRowsPerLook, 1, kMostLooks);
  for (std::int64_t look = 1; look <= looks; ++look) {
    // The last row of each part: under causality the one with the most keys.
    const std::int64_t row = rows / looks * look - 1;
    const QueryRow at{row / r.queries / r.heads, row / r.queries % r.heads, row % r.queries};
    double right = 0;
    attend_oracle_rows(r, {&at, 1}, nullptr, &right);
    const double given = element(backward.lse, backward.lse.offset(at.batch, at.head, at.query, 0));
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto stands_for_nothing = [](double lse) { return std::isnan(lse) || lse == kInfinity; };
    if (stands_for_nothing(right) || stands_for_nothing(given)) continue;
    if (right == given || std::fabs(right - given) <= kNear) continue;
    if (std::max(right, given) < -kHeld || std::min(right, given) > kHeld) continue;
    if (std::fabs(right - given) <= allowed(r, at, right)) continue;
    refuse("lse is not this problem's: row " + to_string(Axes{at.batch, at.head, at.query}) +
               " has " + std::to_string(right) + ", given is " + std::to_string(given) +
               "; give what attend returned for the same problem",
           "attend_backward");
  }
}

}  // namespace volvelle
