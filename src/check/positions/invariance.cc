// What stays and what changes when positions or tokens move.
#include "check/positions/measurements.h"
#include "check/properties/setting.h"

namespace volvelle::positions {
namespace {

using properties::gathered;

constexpr std::int64_t kTokens = 12;
const std::vector<std::int64_t> kOrder{7, 2, 11, 0, 5, 9, 1, 10, 3, 8, 6, 4};

}  // namespace

double shift_error(const PositionSubject& subject) {
  const Tensor ids = subject.ids(2, kTokens);
  const LanguageModel& model = subject.model();
  const Tensor here = counted(2, kTokens), there = counted(2, kTokens, kShift);
  const Tensor before = subject.logits(model, ids.view(), {.positions = here.view()});
  const Tensor after = subject.logits(model, ids.view(), {.positions = there.view()});
  const double moved = distance(after.view(), before.view());
  return subject.traits.relative ? moved : unless_visible(moved);
}

double permutation_error(const PositionSubject& subject) {
  const Tensor ids = subject.ids(2, kTokens, 1);
  const LanguageModel& model = subject.model({.causal = false});
  const Tensor places = counted(2, kTokens, 3);
  const Tensor straight = subject.logits(model, ids.view(), {.positions = places.view()});
  const Tensor moved_ids = gathered(ids.view(), 1, kOrder);
  const Tensor moved_places = gathered(places.view(), 1, kOrder);
  const Tensor moved = subject.logits(model, moved_ids.view(), {.positions = moved_places.view()});
  return distance(moved.view(), gathered(straight.view(), 1, kOrder).view());
}

double order_error(const PositionSubject& subject) {
  const Tensor ids = subject.ids(2, kTokens, 2);
  const LanguageModel& model = subject.model({.causal = false});
  const Tensor straight = subject.logits(model, ids.view());
  const Tensor moved = subject.logits(model, gathered(ids.view(), 1, kOrder).view());
  const double apart = distance(moved.view(), gathered(straight.view(), 1, kOrder).view());
  return subject.traits.any ? unless_visible(apart) : apart;
}

}  // namespace volvelle::positions
