// The kernels that turn rows, against plain loops: every type, pairing, width and direction, in
// place and beside, on every instruction set.
#include "kernels/rotate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/arrays.h"
#include "support/instruction_sets.h"
#include "tensor/convert.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::testing {
namespace {

using kernels::RotatedRows;
using kernels::RotatedType;

class Rotate : public OnEveryInstructionSet {};
VOLVELLE_ON_EVERY_INSTRUCTION_SET(AllSets, Rotate);

RotatedType stored_as(DType dtype) {
  return dtype == DType::float64    ? RotatedType::float64
         : dtype == DType::float16  ? RotatedType::float16
         : dtype == DType::bfloat16 ? RotatedType::bfloat16
                                    : RotatedType::float32;
}

// Rounding of the arithmetic and of the storage, as a share of the numbers' size.
double share(DType dtype) {
  return dtype == DType::float64    ? 1e-15
         : dtype == DType::float16  ? 0x1p-10
         : dtype == DType::bfloat16 ? 0x1p-7
                                    : 4e-7;
}

struct Case {
  DType dtype;
  std::int64_t width, pairs;
  bool interleaved, back, in_place, alike;
};

void check(const Case& c) {
  constexpr std::int64_t kRows = 3;
  const std::int64_t stride = c.width + 5;
  int seed = 0;
  const auto number = [&] { return std::sin(static_cast<double>(++seed) * 1.7) * 2; };
  const Tensor x = filled(c.dtype, {kRows, stride}, number);
  const DType computing = c.dtype == DType::float64 ? DType::float64 : DType::float32;
  const Tensor cosines = filled(computing, {kRows, c.pairs}, number);
  const Tensor sines = filled(computing, {kRows, c.pairs}, number);
  Tensor y = c.in_place ? copy_of(x.view()) : filled(c.dtype, {kRows, stride}, [] { return 77.0; });
  RotatedRows rows;
  rows.x = c.in_place ? y.raw() : x.raw();
  rows.y = y.raw();
  rows.x_stride = rows.y_stride = stride;
  rows.rows = kRows;
  rows.width = c.width;
  rows.pairs = c.pairs;
  rows.cosines = cosines.raw();
  rows.sines = sines.raw();
  rows.cosine_stride = rows.sine_stride = c.alike ? 0 : c.pairs;
  rows.interleaved = c.interleaved;
  rows.back = c.back;
  kernels::rotate_kernels().turn[static_cast<int>(stored_as(c.dtype))](rows);

  const std::vector<double> from = values_of(x.view()), ours = values_of(y.view());
  const std::vector<double> cs = values_of(cosines.view()), sn = values_of(sines.view());
  for (std::int64_t r = 0; r < kRows; ++r) {
    std::vector<double> right(from.begin() + r * stride, from.begin() + (r + 1) * stride);
    for (std::int64_t i = 0; i < c.pairs; ++i) {
      const auto at = static_cast<std::size_t>((c.alike ? 0 : r) * c.pairs + i);
      const double s = c.back ? -sn[at] : sn[at];
      double& a = right[static_cast<std::size_t>(c.interleaved ? 2 * i : i)];
      double& b = right[static_cast<std::size_t>(c.interleaved ? 2 * i + 1 : i + c.pairs)];
      const double first = a;
      a = first * cs[at] - b * s;
      b = first * s + b * cs[at];
    }
    for (std::int64_t d = 0; d < stride; ++d) {
      const double own = ours[static_cast<std::size_t>(r * stride + d)];
      const double wanted = d < c.width || c.in_place ? right[static_cast<std::size_t>(d)] : 77.0;
      ASSERT_NEAR(own, wanted, share(c.dtype) * 8)
          << name_of(c.dtype) << " width " << c.width << " pairs " << c.pairs << " interleaved "
          << c.interleaved << " back " << c.back << " in place " << c.in_place << " row " << r
          << " column " << d;
    }
  }
}

TEST_P(Rotate, EveryShapeAsPlainLoops) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    for (const std::int64_t pairs : {1, 2, 3, 5, 8, 10, 16, 17, 33, 40, 64, 67}) {
      for (const std::int64_t rest : {0, 1, 6}) {
        for (const bool interleaved : {false, true}) {
          for (const bool back : {false, true}) {
            for (const bool in_place : {false, true}) {
              check(
                  {dtype, 2 * pairs + rest, pairs, interleaved, back, in_place, in_place != back});
            }
          }
        }
      }
    }
  }
}

// Turning back undoes a turn where the table holds cosines and sines; and NaN keeps to its pair.
TEST_P(Rotate, BackUndoesAndNaNStaysInItsPair) {
  for (const bool interleaved : {false, true}) {
    constexpr std::int64_t kPairs = 19;
    int n = 0;
    Tensor row = filled(DType::float32, {2 * kPairs}, [&] { return std::cos(++n); });
    const Tensor before = copy_of(row.view());
    const auto angle = [&, i = 0](double (*function)(double)) mutable {
      return function(0.3 * static_cast<double>(i++ % kPairs));
    };
    auto of = angle;
    const Tensor cosines = filled(DType::float32, {kPairs}, [&] { return of(std::cos); });
    const Tensor sines = filled(DType::float32, {kPairs}, [&] { return of(std::sin); });
    RotatedRows rows;
    rows.x = rows.y = row.raw();
    rows.rows = 1;
    rows.width = 2 * kPairs;
    rows.pairs = kPairs;
    rows.cosines = cosines.raw();
    rows.sines = sines.raw();
    rows.interleaved = interleaved;
    const auto turn = kernels::rotate_kernels().turn[0];
    turn(rows);
    rows.back = true;
    turn(rows);
    for (std::int64_t d = 0; d < 2 * kPairs; ++d) {
      EXPECT_NEAR(row.data<float>()[d], before.data<float>()[d], 1e-6f);
    }
    row.data<float>()[4] = std::numeric_limits<float>::quiet_NaN();
    turn(rows);
    const std::int64_t partner = interleaved ? 5 : 4 + kPairs;
    for (std::int64_t d = 0; d < 2 * kPairs; ++d) {
      EXPECT_EQ(std::isnan(row.data<float>()[d]), d == 4 || d == partner) << d;
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
