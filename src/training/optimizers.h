#pragma once

#include <memory>
#include <vector>

#include "volvelle/training/optimizer.h"

namespace volvelle {

// One optimizer a file. Parameters and options that all share are checked; each refuses the numbers
// that it does not read.
std::unique_ptr<Optimizer> make_adamw(std::vector<NamedParameter> parameters,
                                      const OptimizerOptions& options);
std::unique_ptr<Optimizer> make_sgd(std::vector<NamedParameter> parameters,
                                    const OptimizerOptions& options);

/// Throws InvalidArgument, before anything was changed, where a weight that has a gradient is
/// read-only.
void check_changeable(const Variable& weight);

/// Throws InvalidArgument: `name` of `optimizer` does not read `option`.
[[noreturn]] void refuse_unread(const char* optimizer, const char* option);

/// The factor of decay for one parameter: `decay`, or 0 where it does not decay.
double decay_of(const NamedParameter& parameter, double decay, const OptimizerOptions& options);

/// A number in [0, 1) or an error that names it.
void check_beta(const char* what, double value);

}  // namespace volvelle
