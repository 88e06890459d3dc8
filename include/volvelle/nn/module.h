#pragma once

#include <string>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

struct NamedParameter {
  std::string name;  ///< "layers.0.self_attn.in_proj_weight"
  Variable variable;
};

/// A second name of a parameter: "head.weight" of "embedding.weight" where they are tied.
struct TiedName {
  std::string name;
  std::string of;
};

/// What has parameters. A module owns its children as members; parameters come in the order in
/// which they were added, a module's own before those of its children, as PyTorch lists them.
class VOLVELLE_API Module {
 public:
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Every parameter once: one that is tied to an earlier one is left out.
  std::vector<NamedParameter> parameters() const;
  /// The names that `parameters` leaves out, with those they are tied to.
  std::vector<TiedName> tied_names() const;
  /// Elements of all of them.
  std::int64_t parameter_count() const;

 protected:
  Module() = default;
  /// The variable must be a member; what it holds when `parameters` is called counts (absent:
  /// none).
  void add_parameter(std::string name, const Variable& member);
  /// With an empty name the member's parameters are named as if they were this module's.
  void add_module(std::string name, const Module& member);

 private:
  void collect(const std::string& prefix, std::vector<NamedParameter>& out) const;

  struct Own {
    std::string name;
    const Variable* variable;
  };
  struct Child {
    std::string name;
    const Module* module;
  };
  std::vector<Own> own_;
  std::vector<Child> children_;
};

}  // namespace volvelle
