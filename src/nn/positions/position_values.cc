#include "nn/positions/position_values.h"

#include <string>

#include "ops/checks.h"
#include "ops/integer_values.h"

namespace volvelle {

std::vector<std::int64_t> position_values(const char* operation, const View& positions,
                                          std::int64_t end) {
  const OperatorChecks checks(operation);
  std::vector<std::int64_t> values =
      integer_values(checks, "positions", positions, "one of each token");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && (end == 0 || values[i] < end)) continue;
    const std::string what = "position " + std::to_string(values[i]) + " at " +
                             place_of(static_cast<std::int64_t>(i), positions.shape());
    if (values[i] < 0) checks.refuse(what + " is negative; positions count from 0");
    checks.refuse(what + " is outside the table of " + std::to_string(end) +
                  " rows, which ends at position " + std::to_string(end - 1) +
                  ": a learned table has no position after its last; shorten the text or train a "
                  "longer table");
  }
  return values;
}

}  // namespace volvelle
