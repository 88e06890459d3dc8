// What the machine can do at most: multiply-adds that never leave the registers, and plain loads.
#include "kernels/peak.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve sums cover latency 4 (5 on some) times two units, and fit the 16 registers of AVX2.
inline constexpr int kSums = 12;
inline constexpr int kUnrolled = 4;

template <class T>
double FmaRounds(int64_t rounds, T* sink) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  // Converges to 1: no overflow, no subnormal however long it runs.
  const V factor = hn::Set(d, static_cast<T>(0.5));
  const V term = hn::Set(d, static_cast<T>(0.5));
  V s0 = hn::Set(d, static_cast<T>(0.10)), s1 = hn::Set(d, static_cast<T>(0.11));
  V s2 = hn::Set(d, static_cast<T>(0.12)), s3 = hn::Set(d, static_cast<T>(0.13));
  V s4 = hn::Set(d, static_cast<T>(0.14)), s5 = hn::Set(d, static_cast<T>(0.15));
  V s6 = hn::Set(d, static_cast<T>(0.16)), s7 = hn::Set(d, static_cast<T>(0.17));
  V s8 = hn::Set(d, static_cast<T>(0.18)), s9 = hn::Set(d, static_cast<T>(0.19));
  V s10 = hn::Set(d, static_cast<T>(0.20)), s11 = hn::Set(d, static_cast<T>(0.21));
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kUnrolled; ++j) {
      s0 = hn::MulAdd(s0, factor, term);
      s1 = hn::MulAdd(s1, factor, term);
      s2 = hn::MulAdd(s2, factor, term);
      s3 = hn::MulAdd(s3, factor, term);
      s4 = hn::MulAdd(s4, factor, term);
      s5 = hn::MulAdd(s5, factor, term);
      s6 = hn::MulAdd(s6, factor, term);
      s7 = hn::MulAdd(s7, factor, term);
      s8 = hn::MulAdd(s8, factor, term);
      s9 = hn::MulAdd(s9, factor, term);
      s10 = hn::MulAdd(s10, factor, term);
      s11 = hn::MulAdd(s11, factor, term);
    }
  }
  const V a = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  const V b = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  *sink = hn::GetLane(hn::Add(a, b));
  return 2.0 * kSums * kUnrolled * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

double FmaRoundsF32(int64_t rounds, float* sink) { return FmaRounds<float>(rounds, sink); }
double FmaRoundsF64(int64_t rounds, double* sink) {
#if HWY_HAVE_FLOAT64
  return FmaRounds<double>(rounds, sink);
#else
  double sum = 0;
  for (int64_t i = 0; i < rounds; ++i) sum = sum * 0.5 + 0.5;
  *sink = sum;
  return 2.0 * static_cast<double>(rounds);
#endif
}

// Four places at once: a lone stream is limited by how far one prefetcher runs ahead (11.4 against
// 15.0 GB/s on a Sapphire Rapids class machine; two streams 14.1, eight 15.0).
float ReadOnce(const float* HWY_RESTRICT data, size_t count) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const size_t quarter = count / 4;
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  auto s4 = hn::Zero(d), s5 = hn::Zero(d), s6 = hn::Zero(d), s7 = hn::Zero(d);
  for (size_t i = 0; i < quarter; i += 2 * lanes) {
    const float* HWY_RESTRICT at = data + i;
    s0 = hn::Add(s0, hn::Load(d, at));
    s1 = hn::Add(s1, hn::Load(d, at + lanes));
    s2 = hn::Add(s2, hn::Load(d, at + quarter));
    s3 = hn::Add(s3, hn::Load(d, at + quarter + lanes));
    s4 = hn::Add(s4, hn::Load(d, at + 2 * quarter));
    s5 = hn::Add(s5, hn::Load(d, at + 2 * quarter + lanes));
    s6 = hn::Add(s6, hn::Load(d, at + 3 * quarter));
    s7 = hn::Add(s7, hn::Load(d, at + 3 * quarter + lanes));
  }
  const auto a = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  const auto b = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(FmaRoundsF32);
HWY_EXPORT(FmaRoundsF64);
HWY_EXPORT(ReadOnce);

double fma_rounds_f32(std::int64_t rounds, float* sink) {
  return HWY_DYNAMIC_DISPATCH(FmaRoundsF32)(rounds, sink);
}
double fma_rounds_f64(std::int64_t rounds, double* sink) {
  return HWY_DYNAMIC_DISPATCH(FmaRoundsF64)(rounds, sink);
}
float read_once(const float* data, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(ReadOnce)(data, count);
}

}  // namespace volvelle::kernels
#endif
