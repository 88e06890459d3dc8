#include "kernels/attention_decode.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_decode.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "kernels/decode_scores-inl.h"
#include "kernels/decode_values-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Cap, additive biases and exclusion over one row's scores. Lanes behind the last key may receive
// anything.
void ShapeDecodeRow(const DecodeShape& row) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V cap = hn::Set(d, row.cap);
  const V most = hn::Set(d, std::numeric_limits<float>::max());
  const V none = hn::Set(d, kNoScore);
  HWY_ALIGN float part[kLanes<float>] = {};
  for (int j = 0; j < row.keys; j += kLanes<float>) {
    const int count = row.keys - j < kLanes<float> ? row.keys - j : kLanes<float>;
    V score = hn::Load(d, row.scores + j);
    if (row.cap != 0) score = hn::Mul(cap, hn::Tanh(d, score));
    for (const float* bias : {row.by_offset, row.bias}) {
      if (bias == nullptr) continue;
      const float* from = bias + j;
      if (count < kLanes<float>) {
        for (int i = 0; i < count; ++i) part[i] = from[i];
        from = part;
      }
      // In units of the scores. A finite bias stays finite: only -inf takes a key out.
      const V nats = hn::LoadU(d, from);
      const V scaled = hn::Mul(nats, hn::Set(d, kPerNat<float>));
      const V held = hn::Min(most, hn::Max(hn::Neg(most), scaled));
      score = hn::Add(score, hn::IfThenElse(hn::Gt(hn::Abs(nats), most), nats, held));
    }
    if (row.seen != nullptr) {
      const V seen = hn::Load(d, row.seen + j);
      score = hn::IfThenElse(hn::Ne(seen, hn::Zero(d)), score, none);
    }
    hn::Store(score, d, row.scores + j);
  }
}

const DecodeKernels* DecodeTable() {
  static constexpr DecodeKernels kTable{
      kLanes<float>,
      kPerNat<float>,
      {DecodeScores<float>, DecodeScores<BFloat16>, DecodeScores<Float16>},
      ShapeDecodeRow,
      DecodeWeights,
      {DecodeValues<float>, DecodeValues<BFloat16>, DecodeValues<Float16>},
      MergeParts};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(DecodeTable);

const DecodeKernels& decode_kernels() { return *HWY_DYNAMIC_DISPATCH(DecodeTable)(); }

}  // namespace volvelle::kernels
#endif
