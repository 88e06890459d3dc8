#include <unordered_map>

#include "volvelle/base/error.h"
#include "volvelle/nn/stack.h"

namespace volvelle {

std::int64_t share_values(Module& to, const Module& from) {
  const auto* first = dynamic_cast<const Stack*>(&to);
  const auto* second = dynamic_cast<const Stack*>(&from);
  if (first != nullptr && second != nullptr &&
      first->initial_factor() != second->initial_factor()) {
    throw InvalidArgument("[share_values] DeepNorm multiplies initial values by " +
                          std::to_string(first->initial_factor()) + " in one of these stacks and " +
                          std::to_string(second->initial_factor()) +
                          " in the other: draw them apart");
  }
  std::unordered_map<std::string, Variable> named;
  for (NamedParameter& parameter : from.parameters()) {
    named.emplace(std::move(parameter.name), std::move(parameter.variable));
  }
  std::int64_t shared = 0;
  for (NamedParameter& parameter : to.parameters()) {
    const auto found = named.find(parameter.name);
    if (found == named.end()) continue;
    Variable& same = found->second;
    if (same.shape() != parameter.variable.shape() || same.dtype() != parameter.variable.dtype()) {
      continue;
    }
    ++shared;
    if (same.state() == parameter.variable.state()) continue;
    parameter.variable.replace(same.value());
    if (std::shared_ptr<const void> derived = same.derived()) {
      parameter.variable.keep_derived(std::move(derived));
    }
    parameter.variable.make_read_only();
    same.make_read_only();
  }
  return shared;
}

}  // namespace volvelle
