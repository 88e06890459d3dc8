#include "nn/segment_ids.h"

#include <algorithm>
#include <limits>

#include "ops/integer_values.h"

namespace volvelle {

Tensor segment_ids(const OperatorChecks& checks, const View& segments) {
  Tensor ids = integer_tensor(checks, "segments", segments, "the document of each token");
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const auto* id = ids.data<std::int64_t>();
  // What int64 cannot hold is its largest: two documents would become one.
  if (segments.dtype() == DType::uint64 &&
      std::find(id, id + ids.size(), kLargest) != id + ids.size()) {
    checks.refuse("segments have an id from 2^63 - 1 on; number documents below it");
  }
  return ids;
}

}  // namespace volvelle
