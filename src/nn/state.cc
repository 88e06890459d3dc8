#include "volvelle/nn/state.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

std::string told(const Tensor& tensor) {
  return to_string(tensor.shape()) + " " + std::string(name_of(tensor.dtype()));
}

bool same_numbers(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

// All that is wrong, under headings.
class Complaints {
 public:
  void add(const char* heading, std::string text) { lists_[heading].push_back(std::move(text)); }

  void throw_if_any(const std::string& hint) const {
    if (lists_.empty()) return;
    std::string message = "[load_state] the arrays are not this module's";
    for (const auto& [heading, list] : lists_) {
      message += "; " + std::string(heading) + " (" + std::to_string(list.size()) + "): ";
      for (std::size_t i = 0; i < list.size(); ++i) message += (i == 0 ? "" : ", ") + list[i];
    }
    throw InvalidArgument(message + hint);
  }

 private:
  std::map<std::string_view, std::vector<std::string>> lists_;
};

// Finds a parameter's array by its name or, where it is tied, by its second names.
class Matcher {
 public:
  Matcher(const Module& module, const NamedArrays& arrays) {
    for (const TiedName& tied : module.tied_names()) second_names_[tied.of].push_back(tied.name);
    for (const NamedArray& array : arrays) unused_.emplace(array.name, &array.array);
  }

  const Tensor* take(const std::string& name, Complaints& complaints) {
    const Tensor* first = take_one(name);
    const auto others = second_names_.find(name);
    if (others == second_names_.end()) return first;
    for (const std::string& other : others->second) {
      const Tensor* second = take_one(other);
      if (second == nullptr) continue;
      if (first == nullptr) {
        first = second;
      } else if (!same_numbers(*first, *second)) {
        complaints.add("tied here, but not the same numbers there", name + " and " + other);
      }
    }
    return first;
  }

  const std::map<std::string_view, const Tensor*>& unused() const { return unused_; }

 private:
  const Tensor* take_one(const std::string& name) {
    const auto found = unused_.find(name);
    if (found == unused_.end()) return nullptr;
    const Tensor* array = found->second;
    unused_.erase(found);
    return array;
  }

  std::map<std::string_view, const Tensor*> unused_;
  std::map<std::string, std::vector<std::string>> second_names_;
};

bool is_final_norm(std::string_view name) {
  for (const std::string_view end : {"norm.weight", "norm.bias"}) {
    if (name == end || name.ends_with("." + std::string(end))) return true;
  }
  return false;
}

void check_fit(const NamedParameter& parameter, const Tensor& array, StateUse use,
               Complaints& complaints) {
  const Tensor& value = parameter.variable.value();
  const std::string both = parameter.name + " is " + told(array) + ", the module's " + told(value);
  if (array.shape() != value.shape()) {
    complaints.add("of another shape", both);
  } else if (!is_floating(array.dtype())) {
    complaints.add("of another dtype", both);
  } else if (use == StateUse::view && array.dtype() != value.dtype()) {
    complaints.add("of another dtype, to be copied and not viewed", both);
  }
}

}  // namespace

NamedArrays state_of(const Module& module) {
  NamedArrays arrays;
  for (const NamedParameter& parameter : module.parameters()) {
    arrays.push_back({parameter.name, parameter.variable.value()});
  }
  return arrays;
}

void load_state(Module& module, const NamedArrays& arrays, StateUse use) {
  Complaints complaints;
  Matcher matcher(module, arrays);
  std::vector<NamedParameter> parameters = module.parameters();
  std::vector<const Tensor*> found;
  bool only_norm_missing = true;
  for (const NamedParameter& parameter : parameters) {
    found.push_back(matcher.take(parameter.name, complaints));
    if (found.back() == nullptr) {
      complaints.add("missing", parameter.name);
      only_norm_missing = only_norm_missing && is_final_norm(parameter.name);
    } else {
      check_fit(parameter, *found.back(), use, complaints);
    }
  }
  const bool missing = std::find(found.begin(), found.end(), nullptr) != found.end();
  for (const auto& [name, array] : matcher.unused()) complaints.add("extra", std::string(name));
  complaints.throw_if_any(missing && only_norm_missing
                              ? "; this stack ends in a norm and theirs did not: ask for one "
                                "without (FinalNorm::no) if that is meant"
                              : "");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Variable& variable = parameters[i].variable;
    if (use == StateUse::view) {
      variable.replace(*found[i]);
      variable.make_read_only();
    } else {
      variable.replace(converted(found[i]->view(), variable.dtype()));
    }
  }
}

}  // namespace volvelle
