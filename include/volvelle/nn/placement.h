#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"

namespace volvelle {

enum class Sublayer : std::uint8_t { attention, feed_forward };

/// What stands in one of the places for a norm.
enum class NormSlot : std::uint8_t {
  none,
  usual,  ///< of the stack's kind
  layer,  ///< a layer norm, whatever the stack's kind
  rms,    ///< an RMS norm
};

/// c * P(f(N(x))).
struct PlacementBranch {
  Sublayer sublayer = Sublayer::attention;  ///< f
  double factor = 1;                        ///< c
  NormSlot before = NormSlot::none;         ///< N
  bool shared = false;              ///< N is one norm for all branches of the step that say so
  NormSlot after = NormSlot::none;  ///< P
};

/// One step on the stream: x = R(m * x + sum of its branches).
struct PlacementStep {
  std::optional<double> stream_factor = 1;  ///< m; absent: DeepNorm's alpha, by the depth
  std::vector<PlacementBranch> branches;    ///< side by side: all of them read the step's x
  NormSlot stream = NormSlot::none;         ///< R
};

/// Where the norms of a block stand, as data: its steps in order.
///
/// In text a placement is its formula, one step after another with ';' between. A step is a sum of
/// the stream and of sublayers, with norms where they are wanted:
///
///     x                  the stream as it comes into the step; always the first term
///     attention(..)      a sublayer, of x, of norm(x) or of n; so is feed_forward(..)
///     norm(..)           a norm of the stack's kind around x, a branch or the whole sum;
///                        layer_norm(..) and rms_norm(..) are of their own
///     n                  norm(x), by one norm that all branches of the step share
///     0.5 * ..           a factor on the stream or on a branch
///     alpha * x          the stream times DeepNorm's (2 L)^(1/4); then the initial values of v,
///     out
///                        and feed-forward matrices are multiplied by beta = (8 L)^(-1/4)
///
/// Pre-LN is "x + attention(norm(x)); x + feed_forward(norm(x))".
struct NormPlacement {
  std::vector<PlacementStep> steps;
};

/// A line of the table of placements.
struct PlacementEntry {
  const char* name;
  const char* slots;  ///< the formula in the form above
  const char* sentence;
  const char* source;
};
VOLVELLE_API std::span<const PlacementEntry> norm_placements();

/// From a name of the table or from slots. Throws InvalidArgument: an unknown name or word (with a
/// suggestion), what is not a formula (with the column).
VOLVELLE_API NormPlacement parse_placement(std::string_view text);

/// The slots: parse_placement of it is the same placement again.
VOLVELLE_API std::string to_text(const NormPlacement& placement);

/// The formula of a name or of slots, with what follows the last block where the final norm is
/// automatic: "x + attention(norm(x)); x + feed_forward(norm(x)); after the last block norm(x)".
VOLVELLE_API std::string placement_formula(std::string_view text);

/// One for each layer: "post" for all; "2: post | pre" for two of the one, then the other to the
/// end; "(3: pre | post)" repeats what stands in the brackets. A part without a number is one
/// layer, the last part is all that remain. Throws InvalidArgument also where the parts do not fit
/// the number of layers.
VOLVELLE_API std::vector<NormPlacement> placements_by_layer(std::string_view text,
                                                            std::int64_t layers);

/// Whether a norm is the last thing that happens to the stream.
VOLVELLE_API bool leaves_stream_normalised(const NormPlacement& placement);

/// Whether DeepNorm's alpha occurs in it.
VOLVELLE_API bool has_depth_factor(const NormPlacement& placement);

/// DeepNorm's factors for a stack of so many layers.
/// Source: Wang et al. 2022, arXiv:2203.00555, table 2 (encoder only, decoder only).
struct DepthFactors {
  double alpha = 1;  ///< (2 L)^(1/4), on the stream
  double beta = 1;   ///< (8 L)^(-1/4), on initial values
};
VOLVELLE_API DepthFactors depth_factors(std::int64_t layers);

}  // namespace volvelle
