#pragma once

#include "check/properties/setting.h"

namespace volvelle::properties {

/// Everything that has a gradient at once; the bias is broadcast over the batch.
Setting with_every_gradient(RandomNumbers& draws);

/// More queries than keys, masked, with a prefix, and one key head for all; the bias is broadcast
/// over the queries.
Setting with_many_queries(RandomNumbers& draws);

/// A random grad_output in the problem's dtype, kept by the setting.
View gradient_of_output(Setting& setting, RandomNumbers& draws);

}  // namespace volvelle::properties
