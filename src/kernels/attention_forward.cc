#include "kernels/attention_forward.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_forward.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "kernels/exp-inl.h"
#include "kernels/product-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));

// Raw scores of keys [from, to); kMax: their largest per query goes into `maximum`.
template <int kVectors, int kAcross, bool kMax, class T>
HWY_INLINE void Scores(const TileStep<T>& step, int from, int to, T* HWY_RESTRICT maximum) {
  const hn::ScalableTag<T> d;
  ForBlocks(to - from, [&](auto rows, int block) HWY_ATTR {
    const int first = from + block;
    DotBlock<decltype(rows)::value, kVectors, kAcross, kMax>(
        d, step.k + first * step.k_stride, step.k_stride, step.queries, step.width,
        step.scores + first * kAcross * kLanes<T>, maximum);
  });
}

// A bias in units of the scores. A finite one stays finite: masks are made of the lowest number,
// and only -inf takes a key out.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V InUnits(D d, V bias) {
  if (kPerNat<T> == 1) return bias;
  const V most = hn::Set(d, std::numeric_limits<T>::max());
  const V scaled = hn::Mul(bias, hn::Set(d, kPerNat<T>));
  const V held = hn::Min(most, hn::Max(hn::Neg(most), scaled));
  return hn::IfThenElse(hn::Gt(hn::Abs(bias), most), bias, held);
}

// Cap, additive biases and exclusion over the raw scores of keys [from, to); the largest per query
// that is left goes into `maximum`. Excluded scores become -inf by selection, whatever they were.
template <int kVectors, int kAcross, bool kBiased, bool kMasked, class T>
HWY_NOINLINE void ShapeScores(const TileStep<T>& step, int from, int to, T* HWY_RESTRICT maximum) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kAcross * kLanes<T>;
  const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
  const V cap = hn::Set(d, step.cap);
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<T>;
    V first = hn::Zero(d);
    V last = hn::Zero(d);
    if (kMasked && step.first != nullptr) {
      first = hn::Load(d, step.first + lane);
      last = hn::Load(d, step.last + lane);
    }
    V top = hn::Load(d, maximum + lane);
    for (int j = from; j < to; ++j) {
      T* HWY_RESTRICT place = step.scores + j * kPanel + lane;
      V score = hn::Load(d, place);
      if (kBiased) {
        if (step.cap != 0) score = hn::Mul(cap, hn::Tanh(d, score));
        if (step.diagonal != nullptr) {
          score = hn::Add(score, hn::LoadU(d, step.diagonal + lane - j));
        }
        if (step.bias != nullptr) {
          score = hn::Add(score, InUnits(d, hn::Load(d, step.bias + j * kPanel + lane)));
        }
      }
      if (kMasked) {
        if (step.first != nullptr) {
          const V key = hn::Set(d, static_cast<T>(j + step.key_base));
          score = hn::IfThenElse(hn::And(hn::Ge(key, first), hn::Lt(key, last)), score, none);
        }
        if (step.select != nullptr) {
          const V seen = hn::Load(d, step.select + j * kPanel + lane);
          score = hn::IfThenElse(hn::Ne(seen, hn::Zero(d)), score, none);
        }
      }
      hn::Store(score, d, place);
      top = hn::Max(top, score);
    }
    hn::Store(top, d, maximum + lane);
  }
}

// The final scores of the step, in place, and the running maximum raised to theirs.
template <int kVectors, int kAcross, class T>
HWY_INLINE void FinalScores(const TileStep<T>& step, T* HWY_RESTRICT maximum) {
  const bool biased = step.cap != 0 || step.diagonal != nullptr || step.bias != nullptr;
  const bool masked = step.first != nullptr || step.select != nullptr;
  if (!biased && !masked) {
    Scores<kVectors, kAcross, true>(step, 0, step.keys, maximum);
  } else if (!biased && step.select == nullptr && step.all_last - step.all_first >= kBlockRows) {
    // Only the keys outside [all_first, all_last) are cut by the intervals.
    Scores<kVectors, kAcross, false>(step, 0, step.all_first, maximum);
    Scores<kVectors, kAcross, true>(step, step.all_first, step.all_last, maximum);
    Scores<kVectors, kAcross, false>(step, step.all_last, step.keys, maximum);
    ShapeScores<kVectors, kAcross, false, true>(step, 0, step.all_first, maximum);
    ShapeScores<kVectors, kAcross, false, true>(step, step.all_last, step.keys, maximum);
  } else {
    Scores<kVectors, kAcross, false>(step, 0, step.keys, maximum);
    if (biased && masked) {
      ShapeScores<kVectors, kAcross, true, true>(step, 0, step.keys, maximum);
    } else if (biased) {
      ShapeScores<kVectors, kAcross, true, false>(step, 0, step.keys, maximum);
    } else {
      ShapeScores<kVectors, kAcross, false, true>(step, 0, step.keys, maximum);
    }
  }
}

// Turns scores into exp(score - maximum) in place, updates sum (and moment); `factor` receives
// what everything summed so far has to be multiplied with.
template <int kVectors, int kAcross, bool kMoment, class T>
HWY_NOINLINE void Exponentials(const TileStep<T>& step, const T* HWY_RESTRICT raised,
                               T* HWY_RESTRICT factor) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kAcross * kLanes<T>;
  const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
  const V lowest = hn::Set(d, std::numeric_limits<T>::lowest() / 4);
  V base[kVectors], sum[kVectors], moment[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<T>;
    const V before = hn::Load(d, step.maximum + lane);
    const V after = hn::Load(d, raised + lane);
    base[v] = hn::IfThenZeroElse(hn::Eq(after, none), after);  // no key yet: -inf - 0 = -inf
    const V alpha = Power(d, hn::Sub(before, base[v]));
    sum[v] = hn::Mul(alpha, hn::Load(d, step.sum + lane));
    if (kMoment) {
      const V shift = hn::Max(hn::Sub(before, base[v]), lowest);
      moment[v] = hn::Mul(
          alpha, hn::MulAdd(hn::Load(d, step.sum + lane), shift, hn::Load(d, step.moment + lane)));
    }
    hn::Store(alpha, d, factor + lane);
    hn::Store(after, d, step.maximum + lane);
  }
  const char* next_k = reinterpret_cast<const char*>(step.next_k);
  const char* next_v = reinterpret_cast<const char*>(step.next_v);
  const int64_t k_bytes = step.k_stride * static_cast<int64_t>(sizeof(T));
  const int64_t v_bytes = step.v_stride * static_cast<int64_t>(sizeof(T));
  const int k_line_bytes = step.width * static_cast<int>(sizeof(T));
  const int v_line_bytes = step.value_width * static_cast<int>(sizeof(T));
  for (int j = 0; j < step.keys; ++j) {
    T* HWY_RESTRICT place = step.scores + j * kPanel;
    for (int v = 0; v < kVectors; ++v) {
      const V x = hn::Sub(hn::Load(d, place + v * kLanes<T>), base[v]);
      const V p = Power(d, x);
      sum[v] = hn::Add(sum[v], p);
      if (kMoment) moment[v] = hn::MulAdd(p, hn::Max(lowest, x), moment[v]);
      hn::Store(p, d, place + v * kLanes<T>);
    }
    if (next_k != nullptr) {
      for (int b = 0; b < k_line_bytes; b += 64) __builtin_prefetch(next_k + j * k_bytes + b, 0, 2);
      for (int b = 0; b < v_line_bytes; b += 64) __builtin_prefetch(next_v + j * v_bytes + b, 0, 2);
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    hn::Store(sum[v], d, step.sum + v * kLanes<T>);
    if (kMoment) hn::Store(moment[v], d, step.moment + v * kLanes<T>);
  }
}

// Whether every element of `rows` rows is finite: 0 * x stays 0.
template <class T>
HWY_INLINE bool AllFinite(const T* HWY_RESTRICT row, int64_t stride, int rows, int width) {
  const hn::ScalableTag<T> d;
  const int whole = width - width % kLanes<T>;
  const auto zero = hn::Zero(d);
  auto even = zero;
  auto odd = zero;
  T rest = 0;
  for (int j = 0; j < rows; ++j, row += stride) {
    int i = 0;
    for (; i + 2 * kLanes<T> <= whole; i += 2 * kLanes<T>) {
      even = hn::MulAdd(zero, hn::LoadU(d, row + i), even);
      odd = hn::MulAdd(zero, hn::LoadU(d, row + i + kLanes<T>), odd);
    }
    if (i < whole) even = hn::MulAdd(zero, hn::LoadU(d, row + i), even);
    for (i = whole; i < width; ++i) rest += T{0} * row[i];
  }
  return hn::AllTrue(d, hn::Eq(hn::Add(even, odd), zero)) && rest == 0;
}

// Adds one key's value only to the queries that see it: the way of a value that is not finite,
// where a weight of 0 would spread it.
template <int kVectors, int kAcross, class T>
HWY_NOINLINE void AddSeenValue(const TileStep<T>& step, int key) {
  const hn::ScalableTag<T> d;
  constexpr int kPanel = kAcross * kLanes<T>;
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<T>;
    const auto weight = hn::Load(d, step.scores + key * kPanel + lane);
    auto seen = hn::Eq(hn::Zero(d), hn::Zero(d));
    if (step.first != nullptr) {
      const auto x = hn::Set(d, static_cast<T>(key + step.key_base));
      seen = hn::And(hn::Ge(x, hn::Load(d, step.first + lane)),
                     hn::Lt(x, hn::Load(d, step.last + lane)));
    }
    if (step.select != nullptr) {
      seen = hn::And(seen, hn::Ne(hn::Load(d, step.select + key * kPanel + lane), hn::Zero(d)));
    }
    for (int e = 0; e < step.value_width; ++e) {
      T* HWY_RESTRICT place = step.out + e * kPanel + lane;
      const auto old = hn::Load(d, place);
      const auto value = hn::Set(d, step.v[key * step.v_stride + e]);
      hn::Store(hn::IfThenElse(seen, hn::MulAdd(value, weight, old), old), d, place);
    }
  }
}

template <int kVectors, int kAcross, class T>
HWY_INLINE void Accumulate(const TileStep<T>& step, int first_key, int keys, const T* factor,
                           bool fresh) {
  const hn::ScalableTag<T> d;
  constexpr int kPanel = kAcross * kLanes<T>;
  const T* left = step.v + first_key * step.v_stride;
  const T* right = step.scores + first_key * kPanel;
  ForBlocks(step.value_width, [&](auto rows, int first) HWY_ATTR {
    constexpr int kRows = decltype(rows)::value;
    T* out = step.out + first * kPanel;
    if (fresh) {
      AccumulateBlock<kRows, kVectors, kAcross, true>(d, left + first, step.v_stride, right, keys,
                                                      out, factor);
    } else {
      AccumulateBlock<kRows, kVectors, kAcross, false>(d, left + first, step.v_stride, right, keys,
                                                       out, factor);
    }
  });
}

// Weighted values where some keys are excluded for some queries. Finite rows may go through the
// fast product, for 0 * finite = 0; a row that is not finite is added only where it is seen.
template <int kVectors, int kAcross, class T>
HWY_NOINLINE void AccumulateGuarded(const TileStep<T>& step, const T* factor) {
  if (HWY_LIKELY(AllFinite(step.v, step.v_stride, step.keys, step.value_width))) {
    return Accumulate<kVectors, kAcross>(step, 0, step.keys, factor, step.fresh);
  }
  const hn::ScalableTag<T> d;
  HWY_ALIGN T ones[kVectors * kLanes<T>];
  for (int v = 0; v < kVectors; ++v) hn::Store(hn::Set(d, T{1}), d, ones + v * kLanes<T>);
  Accumulate<kVectors, kAcross>(step, 0, 0, factor, step.fresh);  // no keys: only the factor
  for (int j = 0; j < step.keys; ++j) {
    if (AllFinite(step.v + j * step.v_stride, step.v_stride, 1, step.value_width)) {
      Accumulate<kVectors, kAcross>(step, j, 1, ones, false);
    } else {
      AddSeenValue<kVectors, kAcross>(step, j);
    }
  }
}

template <int kVectors, int kAcross, class T>
HWY_INLINE void TileOf(const TileStep<T>& step) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T raised[kVectors * kLanes<T>];
  HWY_ALIGN T factor[kVectors * kLanes<T>];
  for (int v = 0; v < kVectors; ++v) {
    hn::Store(hn::Load(d, step.maximum + v * kLanes<T>), d, raised + v * kLanes<T>);
  }
  FinalScores<kVectors, kAcross>(step, raised);
  if (step.moment != nullptr) {
    Exponentials<kVectors, kAcross, true>(step, raised, factor);
  } else {
    Exponentials<kVectors, kAcross, false>(step, raised, factor);
  }
  if (step.guarded) {
    AccumulateGuarded<kVectors, kAcross>(step, factor);
  } else {
    Accumulate<kVectors, kAcross>(step, 0, step.keys, factor, step.fresh);
  }
}

template <class T>
void Tile(const TileStep<T>& step) {
  if (step.vectors == 2) {
    TileOf<2, 2>(step);
  } else if (step.across == 2) {
    TileOf<1, 2>(step);
  } else {
    TileOf<1, 1>(step);
  }
}

template <class T>
void Transpose(const T* from, int64_t row_stride, int rows, int columns, T factor, T* to,
               int panel) {
  // Rows a multiple of 2 KiB apart share a few sets of the cache: take few of them at a time.
  if (row_stride * static_cast<int64_t>(sizeof(T)) % 2048 == 0) {
    TransposeSquares(from, row_stride, rows, columns, factor, to, panel);
  } else {
    TransposeRows(from, row_stride, rows, columns, factor, to, panel);
  }
  for (int c = 0; rows < panel && c < columns; ++c) {
    for (int r = rows; r < panel; ++r) to[static_cast<int64_t>(c) * panel + r] = 0;
  }
}

// Log-sum-exp and entropy of one vector of queries.
template <class T, class V>
HWY_INLINE void Statistics(const PanelFinish<T>& panel, int lane, V sum, V inverse) {
  const hn::ScalableTag<T> d;
  const V one = hn::Set(d, T{1});
  const V nat = hn::Set(d, T{1} / kPerNat<T>);
  const auto empty = hn::Eq(sum, hn::Zero(d));
  const auto sound = hn::Eq(sum, sum);  // Log does not keep a NaN on every target
  V log = hn::Log(d, hn::IfThenElse(hn::And(sound, hn::Gt(sum, hn::Zero(d))), sum, one));
  log = hn::IfThenElse(sound, log, sum);
  if (panel.lse != nullptr) {
    const V maximum = hn::Load(d, panel.maximum + lane);
    const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
    hn::Store(hn::IfThenElse(empty, none, hn::MulAdd(maximum, nat, log)), d, panel.lse + lane);
  }
  if (panel.entropy != nullptr) {
    const V mean = hn::Mul(hn::Mul(hn::Load(d, panel.moment + lane), nat), inverse);
    const V entropy = hn::Sub(log, mean);
    // Rounding may leave a one-key row a hair below 0.
    const V bounded = hn::IfThenElse(hn::Lt(entropy, hn::Zero(d)), hn::Zero(d), entropy);
    hn::Store(hn::IfThenZeroElse(empty, bounded), d, panel.entropy + lane);
  }
}

// Divides by the sum, turns lanes into rows and stores them.
// to[c][r] = 1 where from[r * row_stride + c] is not 0, else 0; 0 for r from `rows` up to `panel`.
template <class T>
void ExpandBytes(const uint8_t* from, int64_t row_stride, int rows, int columns, T* to, int panel) {
  int row = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint8_t, 16> d8;
  for (; row + 16 <= rows; row += 16) {
    const uint8_t* start = from + row * row_stride;
    for (int c = 0; c + 16 <= columns; c += 16) {
      hn::Vec<decltype(d8)> a[16], b[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) a[i] = hn::LoadU(d8, start + i * row_stride + c);
      // Four rounds of interleaving row i with row i + 8 turn 16 rows into 16 columns.
#pragma GCC unroll 2
      for (int round = 0; round < 2; ++round) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          b[2 * i] = hn::InterleaveLower(d8, a[i], a[i + 8]);
          b[2 * i + 1] = hn::InterleaveUpper(d8, a[i], a[i + 8]);
        }
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          a[2 * i] = hn::InterleaveLower(d8, b[i], b[i + 8]);
          a[2 * i + 1] = hn::InterleaveUpper(d8, b[i], b[i + 8]);
        }
      }
      HWY_ALIGN uint8_t column[16];
      for (int i = 0; i < 16; ++i) {
        hn::Store(a[i], d8, column);
        T* HWY_RESTRICT place = to + static_cast<int64_t>(c + i) * panel + row;
        for (int r = 0; r < 16; ++r) place[r] = column[r] != 0 ? T{1} : T{0};
      }
    }
    for (int c = columns - columns % 16; c < columns; ++c) {
      for (int i = 0; i < 16; ++i) {
        to[static_cast<int64_t>(c) * panel + row + i] =
            start[i * row_stride + c] != 0 ? T{1} : T{0};
      }
    }
  }
#endif
  for (; row < rows; ++row) {
    for (int c = 0; c < columns; ++c) {
      to[static_cast<int64_t>(c) * panel + row] = from[row * row_stride + c] != 0 ? T{1} : T{0};
    }
  }
  for (; row < panel; ++row) {
    for (int c = 0; c < columns; ++c) to[static_cast<int64_t>(c) * panel + row] = 0;
  }
}

template <class T>
bool Finish(const PanelFinish<T>& panel) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kSide = kSquare<T>;
  const int columns = panel.vectors * kLanes<T>;
  const int whole = panel.value_width - panel.value_width % kSide;
  V check = hn::Zero(d);  // NaN once anything stored is not finite
  for (int lane = 0; lane < columns && lane < panel.queries; lane += kLanes<T>) {
    const V sum = hn::Load(d, panel.sum + lane);
    const auto empty = hn::Eq(sum, hn::Zero(d));
    const V inverse = hn::Div(hn::Set(d, T{1}), sum);
    const auto normalised = [&](int e) HWY_ATTR {
      const V value = hn::Mul(hn::Load(d, panel.out + e * columns + lane), inverse);
      const V kept = hn::IfThenZeroElse(empty, value);
      check = hn::MulAdd(hn::Zero(d), kept, check);
      return kept;
    };
    const int rows = panel.queries - lane < kLanes<T> ? panel.queries - lane : kLanes<T>;
    int e = 0;
    for (; rows == kLanes<T> && e < whole; e += kSide) {
      V a[kSide];
#pragma GCC unroll 4
      for (int i = 0; i < kSide; ++i) a[i] = normalised(e + i);
      TransposeInBlocks(d, a);
#pragma GCC unroll 4
      for (int i = 0; i < kSide; ++i) {
        StoreBlocks(d, a[i], panel.rows + (lane + i) * panel.row_stride + e,
                    kSide * panel.row_stride);
      }
    }
    const int rest = e;
    for (; e < panel.value_width; ++e) {
      hn::Store(normalised(e), d, panel.out + e * columns + lane);
    }
    TransposeSquares(panel.out + rest * columns + lane, columns, panel.value_width - rest, rows,
                     T{1}, panel.rows + lane * panel.row_stride + rest, panel.row_stride);
    if (panel.lse != nullptr || panel.entropy != nullptr) Statistics(panel, lane, sum, inverse);
  }
  return hn::AllTrue(d, hn::Eq(check, hn::Zero(d)));
}

template <int kVectors, int kAcross, class T>
HWY_INLINE void ColumnSumsOf(const TileStep<T>& step, const T* lse, double* sums) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kAcross * kLanes<T>;
  HWY_ALIGN T unused[kVectors * kLanes<T>];
  for (int v = 0; v < kVectors; ++v) hn::Store(hn::Zero(d), d, unused + v * kLanes<T>);
  FinalScores<kVectors, kAcross>(step, unused);
  const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int j = 0; j < step.keys; ++j) {
    V total = hn::Zero(d);
    for (int v = 0; v < kVectors; ++v) {
      const V score = hn::Load(d, step.scores + j * kPanel + v * kLanes<T>);
      const V weight = Power(d, hn::Sub(score, hn::Load(d, lse + v * kLanes<T>)));
      total = hn::Add(total, hn::IfThenZeroElse(hn::Eq(score, none), weight));
    }
    sums[j] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
  }
}

template <class T>
void ColumnSums(const TileStep<T>& step, const T* lse, double* sums) {
  if (step.vectors == 2) {
    ColumnSumsOf<2, 2>(step, lse, sums);
  } else if (step.across == 2) {
    ColumnSumsOf<1, 2>(step, lse, sums);
  } else {
    ColumnSumsOf<1, 1>(step, lse, sums);
  }
}

template <class T>
const ForwardKernels<T>& Table() {
  static constexpr ForwardKernels<T> kTable{kLanes<T>, kPerNat<T>, Transpose<T>, ExpandBytes<T>,
                                            Tile<T>,   Finish<T>,  ColumnSums<T>};
  return kTable;
}

const ForwardKernels<float>* TableF32() { return &Table<float>(); }
const ForwardKernels<double>* TableF64() { return &Table<double>(); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(TableF32);
HWY_EXPORT(TableF64);

const ForwardKernels<float>& forward_kernels_f32() { return *HWY_DYNAMIC_DISPATCH(TableF32)(); }
const ForwardKernels<double>& forward_kernels_f64() { return *HWY_DYNAMIC_DISPATCH(TableF64)(); }

}  // namespace volvelle::kernels
#endif
