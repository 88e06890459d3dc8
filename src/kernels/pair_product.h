#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// One product of bfloat16 numbers that are summed in pairs, in float32:
///
///   out[r][c] = factor[c] * out[r][c] + sum over p of left[r][2p] * right[p][c].first
///                                                   + left[r][2p + 1] * right[p][c].second
///
/// A pair is a 32-bit word, its first number in the low half. Products are exact; sums are rounded
/// to float32 in an order that depends on `pairs` alone, so neither the number of rows nor that of
/// columns moves a bit. Subnormal numbers count as 0, going in and coming out.
struct PairProduct {
  const std::uint16_t* left = nullptr;  ///< rows of 2 * pairs numbers; any alignment
  std::int64_t left_stride = 0;         ///< numbers from row to row, of either sign
  const std::uint32_t* right = nullptr;
  std::int64_t right_stride = 0;  ///< words from one pair's row to the next
  float* out = nullptr;
  std::int64_t out_stride = 0;
  int rows = 0;                   ///< a multiple of 16
  int pairs = 0;                  ///< a multiple of 16
  int columns = 32;               ///< 16 or 32
  const float* factor = nullptr;  ///< of each column; null: `out` is not read
  /// As many words as `right` holds that the next product reads: fetched into a cache meanwhile by
  /// ways that are fast enough to wait for memory. Null: none.
  const std::uint32_t* next_right = nullptr;
};

/// One way of multiplying pairs.
struct PairMultiplier {
  const char* name;
  /// Whether the process may use it. The first call asks the system, if that has to be asked.
  bool (*granted)();
  /// Before a thread's first product and after its last: some ways keep state in between.
  void (*begin)();
  void (*end)();
  void (*multiply)(const PairProduct& product);
  /// A token product in between: a matrix unit falls asleep when nothing calls it for about 1,500
  /// cycles and takes 900 to wake (measured on Sapphire Rapids). Null: no such unit.
  void (*stay_awake)();
  /// `rounds` rounds of independent products on registers, between begin() and end(). Returns how
  /// many operations that were; `sink` takes a result.
  double (*rounds)(std::int64_t rounds, float* sink);
};

/// AVX-512's dot product of pairs (vdpbf16ps); null where this CPU or this build lacks it.
const PairMultiplier* dot_multiplier();
/// Whether this CPU's dot product is faster than multiplying widened numbers: twice as fast on
/// AMD's, half as fast on Intel's with a matrix unit (measured on Sapphire Rapids).
bool dot_multiplier_pays();

/// The matrix unit (AMX, tdpbf16ps); null where CPU, system or build lack it. Nothing is asked of
/// the system before granted() is: from then on it refuses the process signal stacks that have no
/// room for the unit's 8 KiB, which only who uses the unit should bear.
const PairMultiplier* matrix_multiplier();

}  // namespace volvelle::kernels
