#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "studies/norm_placement_seed.h"
#include "studies/seed_statistics.h"

namespace volvelle {

/// What was measured of one case, seed by seed, and the figures that follow from it. Figures of
/// which there is none are NaN.
struct CaseSummary {
  PlacementCase of = {};
  std::vector<PlacementRun> runs = {};   ///< in the order of seeds
  std::vector<std::int64_t> seeds = {};  ///< which of the study's, counted from 0
  std::optional<CloseLook> close = {};

  std::vector<double> ratios = {};  ///< last over first, by seed
  SeedSpread ratio = {};
  SeedSpread unevenness = {};        ///< |log2 ratio|
  SeedSpread slope = {};             ///< of log2 norm, per layer
  SeedSpread first = {}, last = {};  ///< norms themselves
  SeedSpread loss = {};
  std::vector<SeedSpread> by_layer = {};  ///< norms

  /// Whether the figures may be read: they were repeated in double and came out the same.
  bool readable() const { return close && !close->agreement.is_noise(); }
};

/// One placement against another, seed by seed: the ratio of their ratios.
struct PairSummary {
  std::int64_t depth = 0;
  NormKind norm = NormKind::layer;
  std::string first = {}, second = {};
  std::vector<double> factors = {};  ///< by seed
  MedianInterval interval = {};
  double median = 0;
  SignTest signs = {};  ///< of log factor: how often the first's ratio is the larger
  bool readable = false;
};

/// How the norm near the output goes with depth: the exponent e of norm ~ depth^e, fitted for each
/// seed over all depths.
struct DepthSummary {
  std::string placement = {};
  NormKind norm = NormKind::layer;
  double exponent = 0;  ///< median over seeds
  MedianInterval interval = {};
  bool readable = false;
};

struct PlacementSummary {
  std::vector<CaseSummary> cases;  ///< those of which anything was measured
  std::vector<PairSummary> pairs;
  std::vector<DepthSummary> depths;  ///< none for a single depth
};

PlacementSummary summarise(const PlacementPlan& plan, std::vector<SeedMeasurements> seeds);

}  // namespace volvelle
