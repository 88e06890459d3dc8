#include "volvelle/measure/attention_case.h"

#include <algorithm>

#include "measure/attention_arrays.h"

namespace volvelle {

double pairs_seen(const AttentionCase& given) {
  const AttentionCase shape = filled_in(given);
  const std::int64_t offset = shape.keys - shape.queries;
  double pairs = 0;
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    const std::int64_t p = i + offset;
    const std::int64_t end = shape.causal ? std::min(shape.keys, p + 1) : shape.keys;
    const std::int64_t begin =
        shape.window > 0 ? std::clamp<std::int64_t>(p - shape.window + 1, 0, shape.keys) : 0;
    pairs += static_cast<double>(std::max<std::int64_t>(end - begin, 0));
  }
  return pairs * static_cast<double>(shape.batch) * static_cast<double>(shape.heads);
}

}  // namespace volvelle
