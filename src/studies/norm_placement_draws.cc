#include "studies/norm_placement_draws.h"

#include <span>
#include <variant>

#include "volvelle/base/any_generator.h"
#include "volvelle/nn/initializer.h"

namespace volvelle {
namespace {

constexpr std::uint64_t kLabelSeeds = 1000;

Variable empty(const Shape& shape) { return Variable(Tensor(DType::float32, shape)); }

EndDraws room_for_end(const NormPlacementOptions& options) {
  return {.head_weight = empty({options.classes, options.width}),
          .head_bias = empty({options.classes}),
          .tokens = empty({options.batch, options.tokens, options.width})};
}

}  // namespace

SeedDraws::SeedDraws(const PlacementPlan& plan, const SharedDraws& shared)
    : plan_(plan),
      shared_(shared),
      stack_(stack_of(plan, {.depth = shared.depths.back(), .placement = shared.placement})),
      parameters_(stack_.parameters()) {
  for (const std::int64_t depth : shared.depths) {
    ends_.emplace(depth, room_for_end(plan.options));
  }
}

void SeedDraws::draw(std::uint64_t seed) {
  const std::unique_ptr<Initializer> initializer =
      make_initializer({.scheme = plan_.options.initialization,
                        .stream = plan_.options.stream,
                        .seed = seed,
                        .layers = shared_.depths.back()});
  std::int64_t drawn = 0;
  for (const std::int64_t depth : shared_.depths) {
    stack_.initialize_blocks(*initializer, drawn, depth);
    drawn = depth;
    EndDraws& end = ends_.at(depth);
    const std::unique_ptr<Initializer> last = initializer->clone();
    last->linear(end.head_weight, end.head_bias);
    last->normal(end.tokens);
  }
}

DrawnParameters in_double(const DrawnParameters& drawn) {
  DrawnParameters doubles;
  doubles.reserve(drawn.size());
  for (const NamedParameter& one : drawn) {
    doubles.push_back({one.name, Variable(converted(one.variable.view(), DType::float64))});
  }
  return doubles;
}

Tensor draw_labels(const NormPlacementOptions& options, std::uint64_t seed) {
  Tensor labels(DType::int64, {options.batch, options.tokens});
  const std::span<std::int64_t> out(labels.data<std::int64_t>(),
                                    static_cast<std::size_t>(labels.size()));
  AnyGenerator generator = make_generator(options.stream, kLabelSeeds + seed);
  std::visit([&](auto& from) { from.integers(out, 0, options.classes); }, generator);
  return labels;
}

}  // namespace volvelle
