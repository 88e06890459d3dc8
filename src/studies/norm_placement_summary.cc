#include "studies/norm_placement_summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace volvelle {
namespace {

template <class Figure>
std::vector<double> over_seeds(const CaseSummary& one, Figure figure) {
  std::vector<double> values;
  values.reserve(one.runs.size());
  for (const PlacementRun& run : one.runs) values.push_back(figure(run));
  return values;
}

double log2_slope(const PlacementRun& run) {
  std::vector<double> layers;
  std::vector<double> logarithms;
  for (std::size_t layer = 0; layer < run.norms.size(); ++layer) {
    layers.push_back(static_cast<double>(layer));
    logarithms.push_back(std::log2(run.norms[layer]));
  }
  return slope_of(layers, logarithms);
}

void compute(CaseSummary& one) {
  one.ratios = over_seeds(one, [](const PlacementRun& run) { return run.ratio(); });
  one.ratio = spread_of(one.ratios);
  one.unevenness = spread_of(
      over_seeds(one, [](const PlacementRun& run) { return std::abs(std::log2(run.ratio())); }));
  one.slope = spread_of(over_seeds(one, log2_slope));
  one.first = spread_of(over_seeds(one, [](const PlacementRun& run) { return run.norms.front(); }));
  one.last = spread_of(over_seeds(one, [](const PlacementRun& run) { return run.norms.back(); }));
  one.loss = spread_of(over_seeds(one, [](const PlacementRun& run) { return run.loss; }));
  for (std::size_t layer = 0; layer < one.runs.front().norms.size(); ++layer) {
    one.by_layer.push_back(
        spread_of(over_seeds(one, [layer](const PlacementRun& run) { return run.norms[layer]; })));
  }
}

// Of the seeds that both have: a stopped study may lack some.
template <class Visit>
void for_common_seeds(const CaseSummary& a, const CaseSummary& b, Visit visit) {
  for (std::size_t i = 0, j = 0; i < a.seeds.size() && j < b.seeds.size();) {
    if (a.seeds[i] == b.seeds[j])
      visit(a.runs[i++], b.runs[j++]);
    else if (a.seeds[i] < b.seeds[j])
      ++i;
    else
      ++j;
  }
}

PairSummary pair_of(const CaseSummary& first, const CaseSummary& second) {
  PairSummary pair{.depth = first.of.depth,
                   .norm = first.of.norm,
                   .first = first.of.placement,
                   .second = second.of.placement};
  std::vector<double> logarithms;
  for_common_seeds(first, second, [&](const PlacementRun& a, const PlacementRun& b) {
    pair.factors.push_back(a.ratio() / b.ratio());
    logarithms.push_back(std::log(pair.factors.back()));
  });
  pair.median = lower_median(pair.factors);
  pair.interval = median_interval(pair.factors);
  pair.signs = sign_test(logarithms);
  pair.readable = first.readable() && second.readable();
  return pair;
}

// The first placement asked for against each of the others, at one depth and norm.
std::vector<PairSummary> pairs_of(const std::vector<CaseSummary>& cases, const std::string& first) {
  std::vector<PairSummary> pairs;
  for (const CaseSummary& one : cases) {
    if (one.of.placement != first) continue;
    for (const CaseSummary& other : cases) {
      const bool comparable = other.of.depth == one.of.depth && other.of.norm == one.of.norm;
      if (comparable && other.of.placement != first) pairs.push_back(pair_of(one, other));
    }
  }
  return pairs;
}

DepthSummary depth_summary(const PlacementPlan& plan, const std::vector<CaseSummary>& cases,
                           const std::string& placement, NormKind norm) {
  DepthSummary summary{.placement = placement, .norm = norm, .readable = true};
  std::vector<double> exponents;
  for (std::int64_t seed = 0; seed < plan.options.seeds; ++seed) {
    std::vector<double> depths;
    std::vector<double> norms;
    for (const CaseSummary& one : cases) {
      if (one.of.placement != placement || one.of.norm != norm) continue;
      const auto found = std::find(one.seeds.begin(), one.seeds.end(), seed);
      if (found == one.seeds.end()) continue;
      const auto& run = one.runs[static_cast<std::size_t>(found - one.seeds.begin())];
      depths.push_back(std::log(static_cast<double>(one.of.depth)));
      norms.push_back(std::log(run.norms.back()));
    }
    if (depths.size() == plan.options.depths.size()) exponents.push_back(slope_of(depths, norms));
  }
  for (const CaseSummary& one : cases) {
    if (one.of.placement == placement && one.of.norm == norm) {
      summary.readable = summary.readable && one.readable();
    }
  }
  summary.readable = summary.readable && !exponents.empty();
  summary.exponent = lower_median(exponents);
  summary.interval = median_interval(exponents);
  return summary;
}

}  // namespace

PlacementSummary summarise(const PlacementPlan& plan, std::vector<SeedMeasurements> seeds) {
  PlacementSummary summary;
  for (std::size_t index = 0; index < plan.cases.size(); ++index) {
    CaseSummary one{.of = plan.cases[index]};
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
      if (seeds[seed].runs.empty() || !seeds[seed].runs[index]) continue;
      one.runs.push_back(std::move(*seeds[seed].runs[index]));
      one.seeds.push_back(static_cast<std::int64_t>(seed));
    }
    if (one.runs.empty()) continue;
    if (!seeds.front().close.empty()) one.close = std::move(seeds.front().close[index]);
    compute(one);
    summary.cases.push_back(std::move(one));
  }
  summary.pairs = pairs_of(summary.cases, plan.options.placements.front());
  if (plan.options.depths.size() < 2) return summary;
  for (const NormKind norm : plan.options.norms) {
    for (const std::string& placement : plan.options.placements) {
      summary.depths.push_back(depth_summary(plan, summary.cases, placement, norm));
    }
  }
  return summary;
}

}  // namespace volvelle
