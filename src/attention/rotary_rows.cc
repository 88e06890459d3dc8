#include "attention/rotary_rows.h"

#include <cmath>
#include <type_traits>

#include "attention/oracle_terms.h"
#include "volvelle/base/half.h"

namespace volvelle {
namespace {

template <class Real>
Real rounded_to(DType dtype, Real value) {
  if (dtype == DType::bfloat16) return static_cast<Real>(to_float(to_bfloat16(value)));
  if (dtype == DType::float16) return static_cast<Real>(to_float(to_float16(value)));
  return value;
}

struct PlainTurn {
  const ResolvedRotary& rotary;
  TurnDirection direction;
  DType dtype;

  template <class Table, class Real>
  void row(const Table* cosines, std::int64_t cosine_stride, const Table* sines,
           std::int64_t sine_stride, Real* row) const {
    const std::int64_t pairs = rotary.pairs;
    const bool halves = rotary.pairing == RotaryPairing::split_half;
    for (std::int64_t i = 0; i < pairs; ++i) {
      const Real c = static_cast<Real>(cosines[i * cosine_stride]);
      const Real s = static_cast<Real>(sines[i * sine_stride]);
      Real& a = row[halves ? i : 2 * i];
      Real& b = row[halves ? i + pairs : 2 * i + 1];
      const Real x = a, y = b;
      switch (direction) {
        case TurnDirection::forward:
          a = rounded_to(dtype, x * c - y * s);
          b = rounded_to(dtype, x * s + y * c);
          break;
        case TurnDirection::back:
          a = x * c + y * s;
          b = y * c - x * s;
          break;
        case TurnDirection::magnitudes:
          a = std::abs(x * c) + std::abs(y * s);
          b = std::abs(y * c) + std::abs(x * s);
          break;
      }
    }
  }
};

}  // namespace

template <class Real>
void turn_rows(const ResolvedAttention& r, const TokenRows& tokens, TurnDirection direction,
               Real* rows) {
  const bool queries = tokens.which == TurnedRows::queries;
  const TurnTables& tables = queries ? r.rotary.query : r.rotary.key;
  if (!tables.present) return;
  const PlainTurn turn{r.rotary, direction, r.dtype};
  const auto turn_all = [&](auto zero) {
    using Table = decltype(zero);
    for (std::int64_t n = 0; n < tokens.count; ++n, rows += r.width) {
      const std::int64_t b = tokens.b, i = tokens.first + n;
      const std::int64_t p = queries ? query_position(r, b, i) : key_position(r, b, i);
      turn.row(static_cast<const Table*>(tables.cosines.data) + tables.cosines.offset(b, 0, p, 0),
               tables.cosines.stride[3],
               static_cast<const Table*>(tables.sines.data) + tables.sines.offset(b, 0, p, 0),
               tables.sines.stride[3], rows);
    }
  };
  if (tables.cosines.dtype == DType::float64) {
    turn_all(double{});
  } else {
    turn_all(float{});
  }
}

template void turn_rows(const ResolvedAttention&, const TokenRows&, TurnDirection, float*);
template void turn_rows(const ResolvedAttention&, const TokenRows&, TurnDirection, double*);

}  // namespace volvelle
