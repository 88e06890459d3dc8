// Products of bfloat16 pairs with AVX-512's dot product. Highway 1.0 lacks the instruction, so this
// file speaks intrinsics; each function names the instruction sets that it needs, and nobody calls
// one before dot_multiplier() has asked the CPU.
#include "kernels/pair_product.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>
#include <utility>

namespace volvelle::kernels {
namespace {

#define VOLVELLE_DOT __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

// Rows held in registers at once: 13 x 2 or 16 x 1 sums of the 32 registers.
template <int kVectors>
constexpr int kBlockRows = kVectors == 2 ? 13 : 16;

template <int kRows, int kVectors>
VOLVELLE_DOT __attribute__((noinline)) void multiply_block(const PairProduct& product, int first) {
  __m512 sum[kRows][kVectors];
  float* const out = product.out + first * product.out_stride;
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    if (product.factor == nullptr) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sum[r][v] = _mm512_setzero_ps();
    } else {
      const __m512 factor = _mm512_loadu_ps(product.factor + 16 * v);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        sum[r][v] = _mm512_mul_ps(factor, _mm512_loadu_ps(out + r * product.out_stride + 16 * v));
      }
    }
  }
  // Four rows share a pointer: base + {0,1,2,3} * stride needs two index registers in all.
  const std::int64_t stride = product.left_stride;
  const std::uint16_t* group[(kRows + 3) / 4];
#pragma GCC unroll 4
  for (int g = 0; g < (kRows + 3) / 4; ++g) group[g] = product.left + (first + 4 * g) * stride;
  const std::uint32_t* right = product.right;
  for (int p = 0; p < product.pairs; ++p) {
    __m512bh b[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      b[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + 16 * v));
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      int word;
      std::memcpy(&word, group[r / 4] + (r % 4) * stride, sizeof word);
      const auto a = reinterpret_cast<__m512bh>(_mm512_set1_epi32(word));
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], a, b[v]);
    }
    right += product.right_stride;
#pragma GCC unroll 4
    for (int g = 0; g < (kRows + 3) / 4; ++g) group[g] += 2;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(out + r * product.out_stride + 16 * v, sum[r][v]);
    }
  }
}

// Blocks of nearly equal height.
template <int kVectors, int... kHeights>
void multiply_blocks(const PairProduct& product, std::integer_sequence<int, kHeights...>) {
  constexpr int kMost = sizeof...(kHeights);
  const int blocks = (product.rows + kMost - 1) / kMost;
  int first = 0;
  for (int b = 0; b < blocks; ++b) {
    const int wanted = product.rows / blocks + (b < product.rows % blocks ? 1 : 0);
    (void)((wanted == kHeights + 1 &&
            (multiply_block<kHeights + 1, kVectors>(product, first), true)) ||
           ...);
    first += wanted;
  }
}

void multiply(const PairProduct& product) {
  if (product.columns == 32) {
    multiply_blocks<2>(product, std::make_integer_sequence<int, kBlockRows<2>>());
  } else {
    multiply_blocks<1>(product, std::make_integer_sequence<int, kBlockRows<1>>());
  }
}

VOLVELLE_DOT double rounds(std::int64_t count, float* sink) {
  // Sixteen sums cover latency 6 times two units.
  constexpr int kSums = 16;
  __m512 sum[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) sum[i] = _mm512_set1_ps(0.01F * static_cast<float>(i));
  const auto one = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3F803F80));
  const auto small = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x30003000));
  for (std::int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 16
    for (int s = 0; s < kSums; ++s) sum[s] = _mm512_dpbf16_ps(sum[s], one, small);
  }
#pragma GCC unroll 16
  for (int i = 1; i < kSums; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  *sink = _mm512_cvtss_f32(sum[0]);
  return static_cast<double>(count) * kSums * 64;
}

bool granted() { return true; }
void nothing() {}

#undef VOLVELLE_DOT

}  // namespace

const PairMultiplier* dot_multiplier() {
  static constexpr PairMultiplier kDot{"avx3_bf16", granted, nothing, nothing,
                                       multiply,    nullptr, rounds};
  static const bool kHere = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }();
  return kHere ? &kDot : nullptr;
}

bool dot_multiplier_pays() {
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") || __builtin_cpu_is("cooperlake");
}

}  // namespace volvelle::kernels

#else

namespace volvelle::kernels {

const PairMultiplier* dot_multiplier() { return nullptr; }
bool dot_multiplier_pays() { return false; }

}  // namespace volvelle::kernels

#endif
