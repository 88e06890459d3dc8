#include "studies/case_stack.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "volvelle/base/error.h"

namespace volvelle {

CaseStack::CaseStack(const PlacementPlan& plan, const PlacementCase& one,
                     const StackOptions& options, const DrawnParameters& drawn)
    : stack_(options) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < drawn.size(); ++i) places.emplace(drawn[i].name, i);
  const bool parameters = plan.options.measure == PlacementMeasure::parameter;
  std::string wanted = plan.parameter.in_layer(0);
  for (NamedParameter& parameter : stack_.parameters()) {
    const bool ask = parameters && parameter.name == wanted;
    parameter.variable.set_requires_grad(ask);
    if (ask) {
      asked_.push_back(parameter.variable);
      wanted = plan.parameter.in_layer(static_cast<std::int64_t>(asked_.size()));
    }
    // Norms are ones and zeros in every stack; all else is drawn.
    if (parameter.name.find("norm") != std::string::npos) continue;
    const auto found = places.find(parameter.name);
    if (found == places.end()) {
      throw InternalError("[norm-placement] " + parameter.name + " of " + one.placement +
                          " was not drawn: please report this");
    }
    shared_.push_back({std::move(parameter.variable), found->second});
  }
}

void CaseStack::take(const DrawnParameters& drawn) {
  for (Variable& asked : asked_) asked.clear_grad();
  for (Shared& one : shared_) {
    const Variable& source = drawn[one.drawn].variable;
    one.parameter.replace(source.value());
    one.parameter.make_read_only();  // the bytes belong to the draws
    if (std::shared_ptr<const void> packed = source.derived()) {
      one.parameter.keep_derived(std::move(packed));
    }
  }
}

void CaseStack::hand_on(const DrawnParameters& drawn) const {
  for (const Shared& one : shared_) {
    if (std::shared_ptr<const void> packed = one.parameter.derived()) {
      drawn[one.drawn].variable.keep_derived(std::move(packed));
    }
  }
}

}  // namespace volvelle
