#include "studies/norm_placement_plan.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "studies/norm_placement_memory.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/nn/placement.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[norm-placement] " + text);
}

void check_size(const char* name, std::int64_t size) {
  if (size >= 1) return;
  refuse(std::string(name) + "=" + std::to_string(size) + " must be positive");
}

template <class T, class ToText>
void check_distinct(const char* what, const std::vector<T>& values, ToText to_text) {
  if (values.empty()) refuse(std::string("no ") + what + " was given: one is needed at least");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) ==
        values.begin() + static_cast<std::ptrdiff_t>(i)) {
      continue;
    }
    refuse(std::string(what) + " " + to_text(values[i]) + " was given twice");
  }
}

void check(const NormPlacementOptions& options) {
  check_distinct("depth", options.depths, [](std::int64_t depth) { return std::to_string(depth); });
  check_distinct("placement", options.placements, [](const std::string& name) { return name; });
  check_distinct("norm", options.norms, [](NormKind kind) { return std::string(name_of(kind)); });
  for (const std::int64_t depth : options.depths) {
    check_size("depth", depth);
    if (depth == 1) refuse("depth 1 has no last layer beside its first to compare; take 2 or more");
  }
  check_size("seeds", options.seeds);
  check_size("width", options.width);
  check_size("heads", options.heads);
  check_size("feed_forward", options.feed_forward);
  check_size("batch", options.batch);
  check_size("tokens", options.tokens);
  check_size("classes", options.classes);
  if (options.measure == PlacementMeasure::stream &&
      options.parameter != NormPlacementOptions().parameter) {
    refuse(
        "parameter " + options.parameter +
        " goes with measure parameter: measure stream takes the gradients of the layers' inputs");
  }
  if (options.width % options.heads != 0) {
    refuse("width=" + std::to_string(options.width) + " is not a multiple of heads=" +
           std::to_string(options.heads) + "; choose another number of heads");
  }
}

// Whether every layer draws an attention, then a feed-forward, as they are: numbers that any other
// placement of this kind can start from.
bool draws_are_common(const std::string& placement, std::int64_t depth) {
  for (const NormPlacement& layer : placements_by_layer(placement, depth)) {
    if (has_depth_factor(layer)) return false;
    std::vector<Sublayer> sublayers;
    for (const PlacementStep& step : layer.steps) {
      for (const PlacementBranch& branch : step.branches) sublayers.push_back(branch.sublayer);
    }
    if (sublayers != std::vector{Sublayer::attention, Sublayer::feed_forward}) return false;
  }
  return true;
}

bool depends_on_depth(Initialization scheme) {
  return scheme == Initialization::depth_scaled || scheme == Initialization::normal;
}

class DrawGroups {
 public:
  explicit DrawGroups(const NormPlacementOptions& options)
      : by_depth_(depends_on_depth(options.initialization)) {}

  std::size_t group_of(const std::string& placement, std::int64_t depth) {
    const bool common = draws_are_common(placement, depth);
    const std::string key = common ? std::string("post") : placement;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      SharedDraws& group = groups_[i];
      const bool holds =
          std::find(group.depths.begin(), group.depths.end(), depth) != group.depths.end();
      if (group.placement != key) continue;
      if (!holds && (by_depth_ || !common)) continue;
      if (!holds) group.depths.push_back(depth);
      return i;
    }
    groups_.push_back({key, {depth}});
    return groups_.size() - 1;
  }

  std::vector<SharedDraws> take() {
    for (SharedDraws& group : groups_) std::sort(group.depths.begin(), group.depths.end());
    return std::move(groups_);
  }

 private:
  bool by_depth_;
  std::vector<SharedDraws> groups_;
};

// Every layer of every stack must have it.
void check_parameter(const PlacementPlan& plan) {
  if (plan.options.measure != PlacementMeasure::parameter) return;
  for (const PlacementCase& one : plan.cases) {
    if (one.depth != *std::max_element(plan.options.depths.begin(), plan.options.depths.end())) {
      continue;
    }
    StackOptions smallest = stack_of(plan, one);
    smallest.width = smallest.feed_forward = smallest.heads = 1;
    const Stack stack(smallest);
    const std::vector<NamedParameter> all = stack.parameters();
    for (std::int64_t layer = 0; layer < one.depth; ++layer) {
      const std::string prefix = plan.parameter.in_layer(layer);
      const std::string before = prefix.substr(0, prefix.size() - plan.parameter.name.size());
      std::vector<std::string> names;
      bool found = false;
      std::string list;
      for (const NamedParameter& parameter : all) {
        if (parameter.name.rfind(before, 0) != 0) continue;
        names.push_back(parameter.name.substr(before.size()));
        list += (list.empty() ? "" : ", ") + names.back();
        found = found || names.back() == plan.parameter.name;
      }
      if (found) continue;
      refuse("layer " + std::to_string(layer + 1) + " of placement " + one.placement +
             " has no parameter '" + plan.parameter.name + "'" +
             suggestion(plan.parameter.name, names) + " (it has " + list + ")");
    }
  }
}

}  // namespace

StackOptions stack_of(const PlacementPlan& plan, const PlacementCase& one, DType dtype) {
  const NormPlacementOptions& options = plan.options;
  return {.layers = one.depth,
          .width = options.width,
          .heads = options.heads,
          .feed_forward = options.feed_forward,
          .placement = one.placement,
          .norm = one.norm,
          .activation = options.activation,
          .final_norm = options.final_norm,
          .dtype = dtype};
}

std::string title_of(const PlacementPlan& plan, const PlacementCase& one) {
  std::string title =
      std::to_string(one.depth) + (one.depth == 1 ? " layer " : " layers ") + one.placement;
  if (plan.options.norms.size() > 1) title += ", " + std::string(name_of(one.norm)) + " norm";
  return title;
}

PlacementPlan plan_norm_placement(const NormPlacementOptions& options, int threads) {
  check(options);
  PlacementPlan plan{.options = options};
  plan.parameter = LayerParameter::parse(options.parameter);
  const int available = resolve_threads(threads);
  plan.runs_at_once = static_cast<int>(std::min<std::int64_t>(available, options.seeds));
  // One seed has all threads for itself; several keep one each, which costs no waiting.
  plan.threads_of_run = plan.runs_at_once == 1 ? available : 1;
  check_memory(plan);
  DrawGroups groups(options);
  for (const std::int64_t depth : options.depths) {
    for (const NormKind norm : options.norms) {
      for (const std::string& placement : options.placements) {
        plan.cases.push_back({.depth = depth,
                              .placement = placement,
                              .norm = norm,
                              .draws = groups.group_of(placement, depth)});
      }
    }
  }
  plan.draws = groups.take();
  check_parameter(plan);
  return plan;
}

}  // namespace volvelle
