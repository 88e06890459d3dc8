#include "kernels/dropout.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/philox-inl.h"
#include "kernels/stored_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Elements whose words are had at once: four of each lane.
constexpr int kGroup = 4 * kWordLanes;
constexpr uint32_t kStream = 1u << 24;

// The words of the elements from 4 * block on, in their order.
HWY_INLINE void WordsFrom(uint64_t block, PhiloxKey key, uint32_t* to) {
  Words words[4];
  if ((block >> 32) == ((block + kWordLanes) >> 32)) {
    Philox(WordsUpFrom(static_cast<uint32_t>(block)), FillWords(static_cast<uint32_t>(block >> 32)),
           FillWords(0), FillWords(kStream), key, words);
  } else {  // the low words end within
    HWY_ALIGN uint32_t low[kWordLanes], high[kWordLanes];
    for (int x = 0; x < kWordLanes; ++x) {
      low[x] = static_cast<uint32_t>(block + static_cast<uint64_t>(x));
      high[x] = static_cast<uint32_t>((block + static_cast<uint64_t>(x)) >> 32);
    }
    Philox(TakeWords(low), TakeWords(high), FillWords(0), FillWords(kStream), key, words);
  }
#if HWY_TARGET == HWY_SCALAR
  for (int w = 0; w < 4; ++w) to[w] = words[w];
#else
  hn::StoreInterleaved4(words[0], words[1], words[2], words[3], WordTag(), to);
#endif
}

// One group of elements, whose words are `words`.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void DropGroup(const uint32_t* words, uint32_t last_dropped, float kept,
                          const BFloat16* x, BFloat16* out) {
  for (int i = 0; i < kGroup; ++i) {
    out[i] = words[i] <= last_dropped ? BFloat16{0} : to_bfloat16(to_float(x[i]) * kept);
  }
}

HWY_INLINE void DropGroup(const uint32_t* words, uint32_t last_dropped, float kept, const float* x,
                          float* out) {
  for (int i = 0; i < kGroup; ++i) out[i] = words[i] <= last_dropped ? 0.0f : x[i] * kept;
}
#else
// Words compare as signed ones with the sign turned: older Highways order no others.
template <class T>
HWY_INLINE void DropGroup(const uint32_t* words, uint32_t last_dropped, float kept, const T* x,
                          T* out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<WordTag> di;
  const auto sign = FillWords(0x80000000u);
  const auto last = hn::BitCast(di, hn::Xor(FillWords(last_dropped), sign));
  const auto factor = hn::Set(d, kept);
#pragma GCC unroll 4
  for (int i = 0; i < kGroup; i += kWordLanes) {
    const auto word = hn::BitCast(di, hn::Xor(TakeWords(words + i), sign));
    const auto is_kept = hn::RebindMask(d, hn::Gt(word, last));
    const auto scaled = hn::Mul(LoadStored(d, x + i), factor);
    StoreStored(hn::IfThenElseZero(is_kept, scaled), d, out + i);
  }
}
#endif

HWY_INLINE void DropGroup(const uint32_t* words, uint32_t last_dropped, double kept,
                          const double* x, double* out) {
  for (int i = 0; i < kGroup; ++i) out[i] = words[i] <= last_dropped ? 0.0 : x[i] * kept;
}

template <class T>
void Drop(const ElementDropout& dropout, int64_t first, const T* x, int64_t count, T* out) {
  using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Number kept = static_cast<Number>(dropout.kept);
  const uint32_t last_dropped = static_cast<uint32_t>(dropout.threshold - 1);
  const PhiloxKey key(dropout.seed);
  HWY_ALIGN uint32_t words[kGroup];
  int64_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    WordsFrom(static_cast<uint64_t>(first + i) / 4, key, words);
    DropGroup(words, last_dropped, kept, x + i, out + i);
  }
  if (i == count) return;
  T rest[kGroup] = {};
  for (int64_t k = i; k < count; ++k) rest[k - i] = x[k];
  WordsFrom(static_cast<uint64_t>(first + i) / 4, key, words);
  DropGroup(words, last_dropped, kept, rest, rest);
  for (int64_t k = i; k < count; ++k) out[k] = rest[k - i];
}

}  // namespace

const DropoutElementKernels* DropoutElementTable() {
  static constexpr DropoutElementKernels kTable{{Drop<float>, Drop<BFloat16>, Drop<double>}};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(DropoutElementTable);

const DropoutElementKernels& dropout_element_kernels() {
  return *HWY_DYNAMIC_DISPATCH(DropoutElementTable)();
}

}  // namespace volvelle::kernels
#endif
