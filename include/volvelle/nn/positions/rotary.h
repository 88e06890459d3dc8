#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "volvelle/attention/rotary_turn.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {

/// How a model's frequencies are changed for texts longer than it was trained on.
enum class RotaryScaling : std::uint8_t {
  none,
  linear,        ///< w / factor
  ntk,           ///< base times factor^(r / (r - 2))
  dynamic,       ///< ntk by the length that a text has reached
  yarn,          ///< fast pairs as they are, slow ones / factor, a ramp between
  llama3,        ///< the same by wavelength
  longrope,      ///< a divisor for each pair, of one list up to `original`, of another beyond
  proportional,  ///< exponents over the whole head; pairs beyond the turning part stand still
};

/// What a rotary scheme's frequencies are made of. A number that a scaling reads and that has no
/// standard value must be given; one that it does not read must not.
struct RotaryOptions {
  RotaryPairing pairing = RotaryPairing::split_half;
  double base = 10000;
  double share = 1;          ///< of a head's columns that turn, r = floor(D * share)
  std::int64_t columns = 0;  ///< r itself, in place of the share
  RotaryScaling scaling = RotaryScaling::none;
  std::optional<double> factor =
      {};  ///< linear, ntk, dynamic, yarn, llama3, longrope; proportional
  std::optional<std::int64_t> original = {};   ///< M0, positions trained on: dynamic, yarn, llama3,
                                               ///< longrope
  std::optional<std::int64_t> max = {};        ///< longrope: original times the factor
  std::optional<double> low = {}, high = {};   ///< llama3: original over the wavelength, in turns
  std::optional<double> fast = {}, slow = {};  ///< yarn: turns over the original; 32 and 1
  std::optional<bool> truncate = {};           ///< yarn: bounds are whole pairs; yes
  std::optional<double> attention = {};        ///< yarn, longrope: factor on cosines and sines
  std::optional<double> mscale = {}, mscale_all = {};         ///< yarn: that factor as their ratio
  std::vector<double> short_factors = {}, long_factors = {};  ///< longrope, one per pair
};

struct RotaryFrequencies {
  std::vector<double> frequencies;  ///< of each pair, radians per position
  double attention = 1;             ///< factor on cosines and sines
  double base = 10000;              ///< after ntk or dynamic
};

/// Frequencies for heads of this width, when a text has reached `length` tokens, which only
/// `dynamic` and `longrope` ask.
/// Throws InvalidArgument: an odd number of turning columns, or more than the head has; numbers
/// that are missing, not read, or contradict each other; lists that are not one number per pair.
/// Source: Su et al. 2021, arXiv:2104.09864; Chen et al. 2023, arXiv:2306.15595 (linear); Peng et
///         al. 2023, arXiv:2309.00071 (ntk, dynamic, yarn); Grattafiori et al. 2024,
///         arXiv:2407.21783 (llama3); Ding et al. 2024, arXiv:2402.13753 (longrope).
VOLVELLE_API RotaryFrequencies rotary_frequencies(const RotaryOptions& options,
                                                  std::int64_t head_width, std::int64_t length = 0);

/// The columns that turn (r): all of them with `proportional`, whose slow pairs stand still.
VOLVELLE_API std::int64_t rotary_columns(const RotaryOptions& options, std::int64_t head_width);

/// Whether frequencies change with the length of a text.
VOLVELLE_API bool depends_on_length(const RotaryOptions& options);

/// The settings of "rotary(...)" as numbers.
VOLVELLE_API RotaryOptions rotary_options(const PositionText& text);

}  // namespace volvelle
