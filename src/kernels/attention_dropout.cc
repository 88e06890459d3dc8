#include "kernels/attention_dropout.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_dropout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

#if HWY_TARGET == HWY_SCALAR

template <class T>
HWY_INLINE void Choose(Words word, uint32_t last_dropped, T kept, T* to) {
  *to = word <= last_dropped ? T{0} : kept;
}

#else

// Words compare as signed ones with the sign turned: older Highways order no others.
HWY_INLINE void Choose(Words word, uint32_t last_dropped, float kept, float* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<WordTag> di;
  const auto sign = FillWords(0x80000000u);
  const auto is_kept = hn::Gt(hn::BitCast(di, hn::Xor(word, sign)),
                              hn::BitCast(di, hn::Xor(FillWords(last_dropped), sign)));
  hn::Store(hn::IfThenElseZero(hn::RebindMask(d, is_kept), hn::Set(d, kept)), d, to);
}

HWY_INLINE void Choose(Words word, uint32_t last_dropped, double kept, double* to) {
  const WordTag d;
  HWY_ALIGN uint32_t words[kWordLanes];
  hn::Store(word, d, words);
  for (int x = 0; x < kWordLanes; ++x) to[x] = words[x] <= last_dropped ? 0.0 : kept;
}

#endif

template <class T>
void Factors(const DropoutStream& stream, int64_t query, int64_t key, int keys, int panel,
             T* factors) {
  if (stream.threshold == 0) {  // so unlikely that no word is below it
    for (int64_t n = 0; n < static_cast<int64_t>(keys) * panel; ++n) {
      factors[n] = static_cast<T>(stream.kept);
    }
    return;
  }
  const uint32_t last_dropped = static_cast<uint32_t>(stream.threshold - 1);
  const T kept = static_cast<T>(stream.kept);
  const PhiloxKey seed(stream.seed);
  const Words head = FillWords(stream.head);
  for (int lane = 0; lane < panel; lane += kWordLanes) {
    HWY_ALIGN uint32_t low[kWordLanes], high[kWordLanes];
    for (int x = 0; x < kWordLanes; ++x) {
      const uint64_t at = static_cast<uint64_t>(query + lane + x);
      low[x] = static_cast<uint32_t>(at);
      high[x] = stream.batch + (static_cast<uint32_t>(at >> 32) << 24);
    }
    const Words row = TakeWords(low);
    const Words row_and_batch = TakeWords(high);
    HWY_ALIGN T beside[kWordLanes];
    for (int64_t block = key / 4; block * 4 < key + keys; ++block) {
      Words words[4];
      Philox(FillWords(static_cast<uint32_t>(block)), row, row_and_batch, head, seed, words);
      for (int word = 0; word < 4; ++word) {
        const int64_t j = block * 4 + word - key;
        if (j < 0 || j >= keys) continue;
        T* place = factors + j * panel + lane;
        if (lane + kWordLanes <= panel) {
          Choose(words[word], last_dropped, kept, place);
          continue;
        }
        Choose(words[word], last_dropped, kept, beside);  // doubles: half as many lanes
        for (int x = 0; lane + x < panel; ++x) place[x] = beside[x];
      }
    }
  }
}

}  // namespace

const DropoutKernels<float>* DropoutTableF32() {
  static constexpr DropoutKernels<float> kTable{Factors<float>};
  return &kTable;
}
const DropoutKernels<double>* DropoutTableF64() {
  static constexpr DropoutKernels<double> kTable{Factors<double>};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(DropoutTableF32);
HWY_EXPORT(DropoutTableF64);

const DropoutKernels<float>& dropout_kernels_f32() {
  return *HWY_DYNAMIC_DISPATCH(DropoutTableF32)();
}
const DropoutKernels<double>& dropout_kernels_f64() {
  return *HWY_DYNAMIC_DISPATCH(DropoutTableF64)();
}

}  // namespace volvelle::kernels
#endif
