#include "volvelle/nn/module.h"

#include <unordered_map>
#include <utility>

namespace volvelle {

Module::~Module() = default;

void Module::add_parameter(std::string name, const Variable& member) {
  own_.push_back({std::move(name), &member});
}

void Module::add_module(std::string name, const Module& member) {
  children_.push_back({std::move(name), &member});
}

void Module::collect(const std::string& prefix, std::vector<NamedParameter>& out) const {
  for (const Own& own : own_) {
    if (*own.variable) out.push_back({prefix + own.name, *own.variable});
  }
  for (const Child& child : children_) {
    child.module->collect(child.name.empty() ? prefix : prefix + child.name + ".", out);
  }
}

std::vector<NamedParameter> Module::parameters() const {
  std::vector<NamedParameter> all;
  collect("", all);
  std::unordered_map<const Variable::State*, std::size_t> met;
  std::vector<NamedParameter> once;
  for (NamedParameter& parameter : all) {
    if (!met.try_emplace(parameter.variable.state().get(), once.size()).second) continue;
    once.push_back(std::move(parameter));
  }
  return once;
}

std::vector<TiedName> Module::tied_names() const {
  std::vector<NamedParameter> all;
  collect("", all);
  std::unordered_map<const Variable::State*, const std::string*> met;
  std::vector<TiedName> tied;
  for (const NamedParameter& parameter : all) {
    const auto [at, first] = met.try_emplace(parameter.variable.state().get(), &parameter.name);
    if (!first) tied.push_back({parameter.name, *at->second});
  }
  return tied;
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const NamedParameter& parameter : parameters()) count += parameter.variable.size();
  return count;
}

}  // namespace volvelle
