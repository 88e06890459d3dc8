#include "attention/oracle_turns.h"

#include "attention/oracle_terms.h"
#include "tensor/convert.h"

namespace volvelle {

OracleTurns::OracleTurns(const ResolvedAttention& given, AttentionFault fault)
    : given_(given), fault_(fault), turned_(given) {
  turned_.rotary = {};  // its rows come turned
}

void OracleTurns::select(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t count) {
  if (!given_.rotary.any()) return;
  turn(TurnedRows::queries, {b, h, first, count, {}}, queries_, turned_.q);
  turn(TurnedRows::keys, {b, key_head_of(given_, h, fault_), 0, given_.keys, {}}, keys_, turned_.k);
}

void OracleTurns::turn(TurnedRows which, const Rows& wanted, Rows& rows, Strided4& to) {
  if (rows.b == wanted.b && rows.h == wanted.h && rows.first <= wanted.first &&
      wanted.first + wanted.count <= rows.first + rows.count) {
    return;
  }
  const Strided4& from = which == TurnedRows::queries ? given_.q : given_.k;
  std::vector<double> numbers = std::move(rows.numbers);
  rows = wanted;
  numbers.resize(static_cast<std::size_t>(wanted.count * given_.width));
  visit_dtype(from.dtype, [&](auto zero) {
    const auto* base = static_cast<const decltype(zero)*>(from.data);
    double* at = numbers.data();
    for (std::int64_t i = wanted.first; i < wanted.first + wanted.count; ++i) {
      const std::int64_t row = from.offset(wanted.b, wanted.h, i, 0);
      for (std::int64_t d = 0; d < given_.width; ++d) {
        *at++ = as_double(base[row + d * from.stride[3]]);
      }
    }
  });
  turn_rows(given_, {which, wanted.b, wanted.first, wanted.count}, TurnDirection::forward,
            numbers.data());
  rows.numbers = std::move(numbers);
  // All rows of the head, or one that stands for each.
  const std::int64_t stride = wanted.count == 1 ? 0 : given_.width;
  to = {rows.numbers.data(), DType::float64, {0, 0, stride, 1}, true};
}

}  // namespace volvelle
