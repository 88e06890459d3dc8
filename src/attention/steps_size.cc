#include "attention/steps_size.h"

#include <string>

#include "volvelle/base/error.h"

namespace volvelle {

void check_steps_size(const char* operation, const ResolvedAttention& r, std::int64_t pair_bytes,
                      std::size_t limit_bytes) {
  std::int64_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(r.batch * r.heads, r.queries, &bytes) &&
                    !__builtin_mul_overflow(bytes, r.keys, &bytes) &&
                    !__builtin_mul_overflow(bytes, pair_bytes, &bytes);
  if (fits && static_cast<std::size_t>(bytes) <= limit_bytes) return;
  throw InvalidArgument(
      '[' + std::string(operation) + "] keeping every step of (B,H,T,S) = " +
      to_string(Shape{r.batch, r.heads, r.queries, r.keys}) + " takes " +
      (fits ? std::to_string(bytes) + " bytes" : std::string("more than 63 bits of bytes")) +
      ", above the limit of " + std::to_string(limit_bytes) +
      "; take fewer heads or tokens, or raise the limit");
}

}  // namespace volvelle
