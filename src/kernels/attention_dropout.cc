#include "kernels/attention_dropout.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_dropout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "base/philox.h"
#include "kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

struct Key {
  uint32_t low, high;
};

#if HWY_TARGET == HWY_SCALAR

// One lane.
using Words = uint32_t;
constexpr int kWordLanes = 1;

HWY_INLINE Words Fill(uint32_t word) { return word; }
HWY_INLINE Words Take(const uint32_t* words) { return *words; }
HWY_INLINE Words Xor3(Words a, Words b, uint32_t key) { return a ^ b ^ key; }
HWY_INLINE void Multiply(uint32_t by, Words word, Words& high, Words& low) {
  const uint64_t product = uint64_t{by} * word;
  high = static_cast<uint32_t>(product >> 32);
  low = static_cast<uint32_t>(product);
}

template <class T>
HWY_INLINE void Choose(Words word, uint32_t last_dropped, T kept, T* to) {
  *to = word <= last_dropped ? T{0} : kept;
}

#else

// One query in each lane.
using WordTag = hn::ScalableTag<uint32_t>;
using Words = hn::Vec<WordTag>;
constexpr int kWordLanes = kLanes<uint32_t>;

HWY_INLINE Words Fill(uint32_t word) { return hn::Set(WordTag(), word); }
HWY_INLINE Words Take(const uint32_t* words) { return hn::Load(WordTag(), words); }
HWY_INLINE Words Xor3(Words a, Words b, uint32_t key) { return hn::Xor(hn::Xor(a, b), Fill(key)); }

// The products of even and of odd lanes are had apart; their halves are then put side by side.
HWY_INLINE void Multiply(uint32_t by, Words word, Words& high, Words& low) {
  const WordTag d;
  const hn::RepartitionToWide<WordTag> wide;
  const Words factor = Fill(by);
  const auto even = hn::MulEven(word, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, word))), factor);
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}

// Words compare as signed ones with the sign turned: older Highways order no others.
HWY_INLINE void Choose(Words word, uint32_t last_dropped, float kept, float* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<WordTag> di;
  const auto sign = Fill(0x80000000u);
  const auto is_kept = hn::Gt(hn::BitCast(di, hn::Xor(word, sign)),
                              hn::BitCast(di, hn::Xor(Fill(last_dropped), sign)));
  hn::Store(hn::IfThenElseZero(hn::RebindMask(d, is_kept), hn::Set(d, kept)), d, to);
}

HWY_INLINE void Choose(Words word, uint32_t last_dropped, double kept, double* to) {
  const WordTag d;
  HWY_ALIGN uint32_t words[kWordLanes];
  hn::Store(word, d, words);
  for (int x = 0; x < kWordLanes; ++x) to[x] = words[x] <= last_dropped ? 0.0 : kept;
}

#endif

// The four words of kWordLanes queries for one block of four keys.
HWY_INLINE void Philox(Words c0, Words c1, Words c2, Words c3, Key key, Words words[4]) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    Words high0, low0, high1, low1;
    Multiply(kPhiloxMultiplier[0], c0, high0, low0);
    Multiply(kPhiloxMultiplier[1], c2, high1, low1);
    c0 = Xor3(high1, c1, key.low);
    c1 = low1;
    c2 = Xor3(high0, c3, key.high);
    c3 = low0;
    key.low += kPhiloxWeyl[0];
    key.high += kPhiloxWeyl[1];
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

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
  const Key seed{static_cast<uint32_t>(stream.seed), static_cast<uint32_t>(stream.seed >> 32)};
  const Words head = Fill(stream.head);
  for (int lane = 0; lane < panel; lane += kWordLanes) {
    HWY_ALIGN uint32_t low[kWordLanes], high[kWordLanes];
    for (int x = 0; x < kWordLanes; ++x) {
      const uint64_t at = static_cast<uint64_t>(query + lane + x);
      low[x] = static_cast<uint32_t>(at);
      high[x] = stream.batch + (static_cast<uint32_t>(at >> 32) << 24);
    }
    const Words row = Take(low);
    const Words row_and_batch = Take(high);
    HWY_ALIGN T beside[kWordLanes];
    for (int64_t block = key / 4; block * 4 < key + keys; ++block) {
      Words words[4];
      Philox(Fill(static_cast<uint32_t>(block)), row, row_and_batch, head, seed, words);
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
