// Products of bfloat16 pairs on the matrix unit (AMX). A tile holds 16 rows of 64 bytes: 16 x 32
// numbers of the left operand in place, 16 pairs x 16 columns of the right one, or 16 x 16 sums.
#include "kernels/pair_product.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace volvelle::kernels {
namespace {

#define VOLVELLE_AMX __attribute__((target("avx512f,amx-tile,amx-bf16")))

constexpr long kTileData = 18;  // the number of the tiles among the states that XSAVE knows

// Intel SDM, volume 1, table 18-1.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

VOLVELLE_AMX void begin() {
  static constexpr TileConfig kConfig;
  _tile_loadconfig(&kConfig);
}

// Between products no tile holds anything.
VOLVELLE_AMX void stay_awake() { _tile_dpbf16ps(0, 4, 6); }

VOLVELLE_AMX void end() { _tile_release(); }

// GCC's tile loads do not say that they read memory: what was stored before must be there.
inline void stores_are_done() { __asm__ volatile("" ::: "memory"); }

VOLVELLE_AMX void scale_rows(const PairProduct& product) {
  const int vectors = product.columns / 16;
  const __m512 one = _mm512_set1_ps(1);
  for (int v = 0; v < vectors; ++v) {
    const __m512 factor = _mm512_loadu_ps(product.factor + 16 * v);
    if (_mm512_cmp_ps_mask(factor, one, _CMP_NEQ_UQ) == 0) continue;
    float* place = product.out + 16 * v;
    for (int r = 0; r < product.rows; ++r, place += product.out_stride) {
      _mm512_storeu_ps(place, _mm512_mul_ps(factor, _mm512_loadu_ps(place)));
    }
  }
}

// Lines of memory to fetch into the second-level cache: so many for each step of 16 pairs.
struct Ahead {
  const char* at = nullptr;
  int lines = 0;

  void step() {
    for (int i = 0; i < lines; ++i, at += 64) __builtin_prefetch(at, 0, 2);
  }
};

// 32 rows x 32 columns: two tiles of each operand meet in four tiles of sums. All strides in bytes.
VOLVELLE_AMX inline void multiply_square(const char* left, std::int64_t left_bytes,
                                         const char* right, std::int64_t right_bytes, char* out,
                                         std::int64_t out_bytes, int pairs, bool fresh,
                                         Ahead ahead) {
  char* const lower = out + 16 * out_bytes;
  if (fresh) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, out, out_bytes);
    _tile_loadd(1, out + 64, out_bytes);
    _tile_loadd(2, lower, out_bytes);
    _tile_loadd(3, lower + 64, out_bytes);
  }
  for (int p = 0; p < pairs; p += 16) {
    _tile_loadd(4, left, left_bytes);
    _tile_loadd(6, right, right_bytes);
    _tile_dpbf16ps(0, 4, 6);
    ahead.step();
    _tile_loadd(7, right + 64, right_bytes);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, left + 16 * left_bytes, left_bytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    left += 64;
    right += 16 * right_bytes;
  }
  _tile_stored(0, out, out_bytes);
  _tile_stored(1, out + 64, out_bytes);
  _tile_stored(2, lower, out_bytes);
  _tile_stored(3, lower + 64, out_bytes);
}

// 16 rows x 32 columns.
VOLVELLE_AMX inline void multiply_wide(const char* left, std::int64_t left_bytes, const char* right,
                                       std::int64_t right_bytes, char* out, std::int64_t out_bytes,
                                       int pairs, bool fresh) {
  if (fresh) {
    _tile_zero(0);
    _tile_zero(1);
  } else {
    _tile_loadd(0, out, out_bytes);
    _tile_loadd(1, out + 64, out_bytes);
  }
  for (int p = 0; p < pairs; p += 16) {
    _tile_loadd(4, left, left_bytes);
    _tile_loadd(6, right, right_bytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, right + 64, right_bytes);
    _tile_dpbf16ps(1, 4, 7);
    left += 64;
    right += 16 * right_bytes;
  }
  _tile_stored(0, out, out_bytes);
  _tile_stored(1, out + 64, out_bytes);
}

// 16 rows x 16 columns.
VOLVELLE_AMX inline void multiply_one(const char* left, std::int64_t left_bytes, const char* right,
                                      std::int64_t right_bytes, char* out, std::int64_t out_bytes,
                                      int pairs, bool fresh) {
  if (fresh) {
    _tile_zero(0);
  } else {
    _tile_loadd(0, out, out_bytes);
  }
  for (int p = 0; p < pairs; p += 16) {
    _tile_loadd(4, left, left_bytes);
    _tile_loadd(6, right, right_bytes);
    _tile_dpbf16ps(0, 4, 6);
    left += 64;
    right += 16 * right_bytes;
  }
  _tile_stored(0, out, out_bytes);
}

// 32 columns and 32 pairs: the right operand stays in four tiles while the rows go by.
VOLVELLE_AMX void multiply_held(const char* left, std::int64_t left_bytes, const char* right,
                                std::int64_t right_bytes, char* out, std::int64_t out_bytes,
                                int rows) {
  _tile_loadd(4, right, right_bytes);
  _tile_loadd(5, right + 64, right_bytes);
  _tile_loadd(6, right + 16 * right_bytes, right_bytes);
  _tile_loadd(7, right + 16 * right_bytes + 64, right_bytes);
  for (int r = 0; r < rows; r += 16) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_loadd(2, left, left_bytes);
    _tile_dpbf16ps(0, 2, 4);
    _tile_dpbf16ps(1, 2, 5);
    _tile_loadd(3, left + 64, left_bytes);
    _tile_dpbf16ps(0, 3, 6);
    _tile_dpbf16ps(1, 3, 7);
    _tile_stored(0, out, out_bytes);
    _tile_stored(1, out + 64, out_bytes);
    left += 16 * left_bytes;
    out += 16 * out_bytes;
  }
}

VOLVELLE_AMX void multiply(const PairProduct& product) {
  const bool fresh = product.factor == nullptr;
  if (!fresh) scale_rows(product);
  stores_are_done();
  const std::int64_t left_bytes = product.left_stride * 2;
  const std::int64_t right_bytes = product.right_stride * 4;
  const std::int64_t out_bytes = product.out_stride * 4;
  const char* left = reinterpret_cast<const char*>(product.left);
  const char* right = reinterpret_cast<const char*>(product.right);
  char* out = reinterpret_cast<char*>(product.out);
  if (product.columns == 16) {
    for (int r = 0; r < product.rows; r += 16) {
      multiply_one(left + r * left_bytes, left_bytes, right, right_bytes, out + r * out_bytes,
                   out_bytes, product.pairs, fresh);
    }
    return;
  }
  if (fresh && product.pairs == 32) {
    return multiply_held(left, left_bytes, right, right_bytes, out, out_bytes, product.rows);
  }
  Ahead ahead;
  std::int64_t share = 0;  // of each block of rows, in bytes
  if (product.next_right != nullptr && product.rows >= 32) {
    // A step of 16 pairs reads 32 lines of the right operand, and each block all of its steps.
    ahead.at = reinterpret_cast<const char*>(product.next_right);
    ahead.lines = (32 + product.rows / 32 - 1) / (product.rows / 32);
    share = std::int64_t{64} * ahead.lines * (product.pairs / 16);
  }
  int r = 0;
  for (; r + 32 <= product.rows; r += 32) {
    multiply_square(left + r * left_bytes, left_bytes, right, right_bytes, out + r * out_bytes,
                    out_bytes, product.pairs, fresh, ahead);
    ahead.at += share;
  }
  if (r < product.rows) {
    multiply_wide(left + r * left_bytes, left_bytes, right, right_bytes, out + r * out_bytes,
                  out_bytes, product.pairs, fresh);
  }
}

VOLVELLE_AMX double rounds(std::int64_t count, float* sink) {
  alignas(64) float sums[256];
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (std::int64_t i = 0; i < count; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums, 64);
  *sink = sums[0];
  return static_cast<double>(count) * 4 * (16 * 16 * 32 * 2);
}

#undef VOLVELLE_AMX

// What the CPU has (CPUID 7 and 0x1D) and the system saves (XCR0).
bool supported() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kTileState = 3U << 17;
  if ((low & kTileState) != kTileState) return false;
  constexpr unsigned kBFloat16 = 1U << 22, kTiles = 1U << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((d & kBFloat16) == 0 || (d & kTiles) == 0) return false;
  // Palette 1: eight tiles of 16 rows of 64 bytes.
  if (__get_cpuid_count(0x1D, 1, &a, &b, &c, &d) == 0) return false;
  if ((b & 0xFFFF) < 64 || (b >> 16) < 8 || (c & 0xFFFF) < 16) return false;
  // Since Linux 5.16 a process has to ask; a system that does not know the question has no tiles.
  constexpr long kWhatMayBeAsked = 0x1021;  // ARCH_GET_XCOMP_SUPP
  std::uint64_t features = 0;
  return syscall(SYS_arch_prctl, kWhatMayBeAsked, &features) == 0 &&
         (features >> kTileData & 1) != 0;
}

// Whether the system lets this process use the unit: asked once, for the whole process.
bool granted() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  static const bool kGranted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return kGranted;
}

}  // namespace

const PairMultiplier* matrix_multiplier() {
  static constexpr PairMultiplier kMatrix{"avx3_amx", granted,    begin, end,
                                          multiply,   stay_awake, rounds};
  static const bool kSupported = supported();
  return kSupported ? &kMatrix : nullptr;
}

}  // namespace volvelle::kernels

#else

namespace volvelle::kernels {

const PairMultiplier* matrix_multiplier() { return nullptr; }

}  // namespace volvelle::kernels

#endif
