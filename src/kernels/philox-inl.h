// Per-target code: Philox4x32-10 (base/philox.h) in every lane at once, and choices by its words.
#if defined(VOLVELLE_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_PHILOX_INL_H_
#undef VOLVELLE_KERNELS_PHILOX_INL_H_
#else
#define VOLVELLE_KERNELS_PHILOX_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "base/philox.h"
#include "kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct PhiloxKey {
  uint32_t low, high;

  explicit PhiloxKey(uint64_t seed)
      : low(static_cast<uint32_t>(seed)), high(static_cast<uint32_t>(seed >> 32)) {}
};

#if HWY_TARGET == HWY_SCALAR

// One lane.
using Words = uint32_t;
inline constexpr int kWordLanes = 1;

HWY_INLINE Words FillWords(uint32_t word) { return word; }
HWY_INLINE Words TakeWords(const uint32_t* words) { return *words; }
HWY_INLINE Words WordsUpFrom(uint32_t first) { return first; }
HWY_INLINE Words Xor3Words(Words a, Words b, uint32_t key) { return a ^ b ^ key; }
HWY_INLINE void MultiplyWords(uint32_t by, Words word, Words& high, Words& low) {
  const uint64_t product = uint64_t{by} * word;
  high = static_cast<uint32_t>(product >> 32);
  low = static_cast<uint32_t>(product);
}

#else

using WordTag = hn::ScalableTag<uint32_t>;
using Words = hn::Vec<WordTag>;
inline constexpr int kWordLanes = kLanes<uint32_t>;

HWY_INLINE Words FillWords(uint32_t word) { return hn::Set(WordTag(), word); }
HWY_INLINE Words TakeWords(const uint32_t* words) { return hn::Load(WordTag(), words); }
HWY_INLINE Words WordsUpFrom(uint32_t first) { return hn::Iota(WordTag(), first); }
HWY_INLINE Words Xor3Words(Words a, Words b, uint32_t key) {
  return hn::Xor(hn::Xor(a, b), FillWords(key));
}

// The products of even and of odd lanes are had apart; their halves are then put side by side.
HWY_INLINE void MultiplyWords(uint32_t by, Words word, Words& high, Words& low) {
  const WordTag d;
  const hn::RepartitionToWide<WordTag> wide;
  const Words factor = FillWords(by);
  const auto even = hn::MulEven(word, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, word))), factor);
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}

#endif

// The four words of kWordLanes counters (c0, c1, c2, c3).
HWY_INLINE void Philox(Words c0, Words c1, Words c2, Words c3, PhiloxKey key, Words words[4]) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    Words high0, low0, high1, low1;
    MultiplyWords(kPhiloxMultiplier[0], c0, high0, low0);
    MultiplyWords(kPhiloxMultiplier[1], c2, high1, low1);
    c0 = Xor3Words(high1, c1, key.low);
    c1 = low1;
    c2 = Xor3Words(high0, c3, key.high);
    c3 = low0;
    key.low += kPhiloxWeyl[0];
    key.high += kPhiloxWeyl[1];
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
