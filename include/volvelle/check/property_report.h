#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/check/attention_properties.h"

namespace volvelle {

/// A table with a line per property and control: the worst error and the control's smallest over
/// all routes, or all schemes. Then every row that does not hold, and a conclusion. 80 columns.
VOLVELLE_API std::string property_text(const PropertyReport& report);

/// {"holds": ..., "complete": ..., "rows": [...]}, a row with the members of PropertyRow (a scheme
/// or a route); 1e308 stands for a number that is not finite, `note` is there only where there is
/// one.
VOLVELLE_API void write_property_json(std::ostream& out, const PropertyReport& report);

/// Each property in a sentence, with its controls.
VOLVELLE_API std::string property_list_text(const std::vector<PropertyEntry>& entries);
VOLVELLE_API void write_property_list_json(std::ostream& out,
                                           const std::vector<PropertyEntry>& entries);

}  // namespace volvelle
