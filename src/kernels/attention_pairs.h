#pragma once

#include <cstdint>

#include "kernels/attention_forward.h"
#include "kernels/pair_product.h"

namespace volvelle::kernels {

/// Keys of a pair step start at multiples of this within their tile; widths are padded to it.
inline constexpr int kPairGrain = 32;

/// What the forward step of one panel against some keys of one tile needs besides its TileStep when
/// q, k and v are bfloat16 and are multiplied as such. The products are exact; scores, softmax and
/// sums are float32. Weights are rounded to bfloat16 for the product with the values, and only
/// there: the running sum, and with it the log-sum-exp, takes them as they are.
///
/// Numbers that the multiplication of pairs would treat unlike float32 are left to float32: see
/// `find_odd_rows`. A score depends on its own query and key alone, either way.
struct PairStep {
  const std::uint16_t* k = nullptr;  ///< rows of 2 * pairs numbers, readable up to `key_rows`
  std::int64_t k_stride = 0;
  const std::uint16_t* v = nullptr;  ///< [value_rows][kTileKeys], odd rows 0; from the first key on
  const std::uint32_t* queries = nullptr;  ///< [pairs][panel], as they are
  float factor = 1;                        ///< what the queries of the TileStep are multiplied with
  int key_rows = 0;                        ///< keys rounded up to kPairGrain
  int pairs = 0;                           ///< a multiple of 16
  int value_rows = 0;                      ///< a multiple of 16; `out` has as many rows
  std::uint32_t* weights = nullptr;        ///< [kTileKeys / 2][panel] scratch

  /// With any of these the TileStep's k, v and queries are there too, in float32.
  const std::uint8_t* odd_keys = nullptr;    ///< of each key
  const std::uint8_t* odd_values = nullptr;  ///< of each key
  const float* odd_queries = nullptr;        ///< [panel], 0 or 1
  float* scores = nullptr;                   ///< [kTileKeys][panel] scratch
};

/// The forward kernels for bfloat16 pairs. A step runs through the first three; together they are
/// what ForwardKernels::tile is, always guarded, with `vectors` and `across` equal. Between its
/// softmax and its values the scores of another step may be taken, unless it has odd values: units
/// that read what others have just stored need not wait then.
struct PairKernels {
  /// Raw scores.
  void (*scores)(const TileStep<float>& step, const PairStep& pair,
                 const PairMultiplier& multiplier);
  /// Final scores, running maximum and sum, weights; `factor` ([panel], 64-byte aligned) receives
  /// what everything summed so far has to be multiplied with.
  void (*softmax)(const TileStep<float>& step, const PairStep& pair,
                  const PairMultiplier& multiplier, float* factor);
  /// Weighted values.
  void (*values)(const TileStep<float>& step, const PairStep& pair,
                 const PairMultiplier& multiplier, const float* factor);
  /// Marks rows that hold a number which is neither 0 nor of a magnitude in [2^-50, 2^50): products
  /// of those within stay far from what float32 can hold and from subnormal numbers. Returns
  /// whether there is any; without, `odd` is not written.
  bool (*find_odd_rows)(const std::uint16_t* rows, std::int64_t stride, int count, int width,
                        std::uint8_t* odd);
  /// to[p][r] = pair p of row r, for rows of 2 * pairs numbers at a 64-byte boundary; `panel` rows.
  void (*interleave_queries)(const std::uint16_t* rows, int pairs, int panel, std::uint32_t* to);
  /// to[e][j] = rows[j][e], [value_rows][kTileKeys]; 0 for odd rows, for e from `width` on and up
  /// to the next multiple of kPairGrain for j. `odd` may be null.
  void (*transpose_values)(const std::uint16_t* rows, std::int64_t stride, int count, int width,
                           const std::uint8_t* odd, int value_rows, std::uint16_t* to);
};

/// Of the instruction set in use; null where it has none.
const PairKernels* pair_kernels();

}  // namespace volvelle::kernels
