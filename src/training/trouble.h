#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/nn/module.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Why a loss is not finite: the first parameter that is not, or else the first result on the way
/// to it, with the layer it belongs to.
std::string trouble_of_loss(const Variable& loss, const std::vector<NamedParameter>& parameters);

/// Which gradients are not finite: the first, where in it, how many, and which is nearest to the
/// loss, since a gradient spoils those of all layers before it.
std::string trouble_of_gradients(const std::vector<NamedParameter>& parameters,
                                 const std::function<View(std::size_t)>& gradient);

}  // namespace volvelle
