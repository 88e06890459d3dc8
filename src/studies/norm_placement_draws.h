#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "studies/norm_placement_plan.h"
#include "volvelle/autograd/variable.h"
#include "volvelle/nn/stack.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// What comes after the layers of one depth: the head, then the tokens.
struct EndDraws {
  Variable head_weight;  ///< (classes, C)
  Variable head_bias;    ///< (classes)
  Variable tokens;       ///< (B,T,C), standard normal
};

/// Matrices and biases by name, in the order of the layers.
using DrawnParameters = std::vector<NamedParameter>;

/// The same numbers, exactly, in float64.
DrawnParameters in_double(const DrawnParameters& drawn);

/// Everything that one seed draws for the stacks that share it, in the order of the program that
/// the study reproduces: for each depth as if it were the only one. Room for it is made once and
/// used again for the next seed.
class SeedDraws {
 public:
  SeedDraws(const PlacementPlan& plan, const SharedDraws& shared);

  void draw(std::uint64_t seed);

  /// Of the deepest stack; shallower ones have the first of them.
  const DrawnParameters& parameters() const { return parameters_; }
  const EndDraws& end(std::int64_t depth) const { return ends_.at(depth); }

 private:
  const PlacementPlan& plan_;
  const SharedDraws& shared_;
  Stack stack_;
  DrawnParameters parameters_;
  std::map<std::int64_t, EndDraws> ends_;  // by depth
};

/// A class for each token (B,T), from a generator of its own, seeded with 1000 + seed.
Tensor draw_labels(const NormPlacementOptions& options, std::uint64_t seed);

}  // namespace volvelle
