#include "volvelle/attention/buckets.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {

std::int64_t bucket_of(std::int64_t offset, Buckets kind, std::int64_t count,
                       std::int64_t max_distance) {
  const bool two_way = kind == Buckets::two_way;
  if (kind == Buckets::none) throw InvalidArgument("[buckets] the kind must be one_way or two_way");
  if (two_way ? count < 4 || count % 2 != 0 : count < 2) {
    throw InvalidArgument(
        "[buckets] " + std::to_string(count) + " buckets: " +
        (two_way ? "two-way needs an even count of at least 4" : "one-way needs at least 2"));
  }
  const std::int64_t side = two_way ? count / 2 : count;
  const std::int64_t exact = side / 2;
  if (max_distance <= exact) {
    throw InvalidArgument("[buckets] max_distance " + std::to_string(max_distance) +
                          " must exceed the " + std::to_string(exact) +
                          " distances that have a bucket each");
  }
  const std::int64_t base = two_way && offset > 0 ? side : 0;
  // Unsigned, so that the smallest 64-bit offset has a magnitude too.
  const std::uint64_t size =
      offset < 0 ? -static_cast<std::uint64_t>(offset) : static_cast<std::uint64_t>(offset);
  const std::uint64_t distance = two_way ? size : (offset < 0 ? size : 0);
  if (distance < static_cast<std::uint64_t>(exact)) {
    return base + static_cast<std::int64_t>(distance);
  }
  // In float32 as the reference computes it: at a boundary the rounding decides the bucket.
  const float share =
      std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact))) *
      static_cast<float>(side - exact);
  return base + std::min(exact + static_cast<std::int64_t>(share), side - 1);
}

}  // namespace volvelle
