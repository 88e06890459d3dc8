#include "check/turn_tables.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace volvelle {
namespace {

using Turn = std::complex<double>;

// Reads a table, one batch row after the other.
class Reader {
 public:
  Reader(const View& cosines, const View& sines)
      : cosines_(converted(cosines, DType::float64)), sines_(converted(sines, DType::float64)) {
    const Shape& shape = cosines.shape();
    pairs = shape[shape.rank() - 1];
    length = shape[shape.rank() - 2];
    tables = shape.rank() == 3 ? shape[0] : 1;
  }

  Turn at(std::int64_t table, std::int64_t position, std::int64_t pair) const {
    const std::int64_t n = (table * length + position) * pairs + pair;
    return {cosines_.data<double>()[n], sines_.data<double>()[n]};
  }

  // The turn from a row to the next, where there are two.
  Turn step(std::int64_t table, std::int64_t pair) const {
    if (length < 2) return 1;
    const Turn first = at(table, 0, pair);
    return first == Turn(0) ? Turn(1) : at(table, 1, pair) / first;
  }

  std::int64_t tables, length, pairs;

 private:
  Tensor cosines_, sines_;
};

}  // namespace

MadeTables tables_of(std::int64_t length, std::int64_t pairs,
                     const std::function<double(std::int64_t)>& frequency) {
  MadeTables made{Tensor(DType::float64, {length, pairs}), Tensor(DType::float64, {length, pairs})};
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double by = frequency(i);
    for (std::int64_t p = 0; p < length; ++p) {
      const double angle = static_cast<double>(p) * by;
      made.cosines.data<double>()[p * pairs + i] = std::cos(angle);
      made.sines.data<double>()[p * pairs + i] = std::sin(angle);
    }
  }
  return made;
}

MadeTables shifted(const View& cosines, const View& sines, std::int64_t shift) {
  const Reader given(cosines, sines);
  MadeTables made{Tensor(DType::float64, cosines.shape()), Tensor(DType::float64, cosines.shape())};
  std::int64_t n = 0;
  for (std::int64_t table = 0; table < given.tables; ++table) {
    for (std::int64_t p = 0; p < given.length; ++p) {
      for (std::int64_t i = 0; i < given.pairs; ++i, ++n) {
        const std::int64_t wanted = p + shift;
        const std::int64_t row = std::clamp<std::int64_t>(wanted, 0, given.length - 1);
        Turn turn = given.at(table, row, i);
        if (row != wanted)
          turn *= std::pow(given.step(table, i), static_cast<double>(wanted - row));
        made.cosines.data<double>()[n] = turn.real();
        made.sines.data<double>()[n] = turn.imag();
      }
    }
  }
  return made;
}

std::optional<double> base_of(const View& cosines, const View& sines) {
  constexpr double kNear = 1e-5;
  const Reader given(cosines, sines);
  if (given.length < 2 || given.pairs < 2 || given.tables != 1) return {};
  const auto frequency = [&](std::int64_t pair) { return std::arg(given.at(0, 1, pair)); };
  const auto pairs = static_cast<double>(given.pairs);
  // The slower of two neighbours would drown in rounding for large bases: the second pair says it.
  const double base = std::pow(frequency(1), -pairs);
  if (!(std::isfinite(base) && base > 1)) return {};
  for (std::int64_t i = 0; i < given.pairs; ++i) {
    const double right = std::pow(base, -static_cast<double>(i) / pairs);
    if (std::fabs(std::abs(given.at(0, 1, i)) - 1) > kNear) return {};
    if (std::fabs(frequency(i) - right) > kNear) return {};
  }
  return base;
}

}  // namespace volvelle
