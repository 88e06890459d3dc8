#pragma once

#include <cstdint>

#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// The T5 bucket of an offset (key position - query position).
/// Two-way: half of the buckets are for keys after the query. One-way: all keys after the query
/// share bucket 0. Of the buckets of one side the first half holds one distance each, the rest
/// grow logarithmically up to `max_distance`.
/// Throws InvalidArgument when count is too small (1 one-way, 2 two-way, and even two-way) or
/// max_distance does not exceed the exact half.
/// Source: Raffel et al. 2019, arXiv:1910.10683.
VOLVELLE_API std::int64_t bucket_of(std::int64_t offset, Buckets kind, std::int64_t count,
                                    std::int64_t max_distance);

}  // namespace volvelle
