#include "attention/key_value_checks.h"

#include <algorithm>

#include "attention/resolve_layout.h"

namespace volvelle {
namespace {

bool multiply(std::int64_t a, std::int64_t b, std::int64_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}

void check_extent(const char* name, std::int64_t value) {
  if (value >= 1) return;
  refuse_cache("options",
               std::string(name) + " is " + std::to_string(value) + "; it must be at least 1");
}

void check_array(const KeyValueCacheOptions& options, const char* name, const View& view,
                 const Shape& wanted) {
  if (!view) refuse_cache("append", std::string(name) + " is missing; keys and values go together");
  if (!(view.shape() == wanted)) {
    refuse_cache("append", described(name, view) + " must have shape " + to_string(wanted) +
                               ": sequences, key heads, tokens and width");
  }
  if (view.dtype() != DType::float32 && view.dtype() != options.dtype) {
    const std::string stored(name_of(options.dtype));
    refuse_cache("append", std::string(name) + " is " + std::string(name_of(view.dtype())) +
                               "; it must be " +
                               (options.dtype == DType::float32 ? "" : "float32 or ") + stored +
                               ", as the cache stores it");
  }
  check_memory({name, view, "KeyValueCache append"});
}

}  // namespace

void refuse_cache(const char* operation, const std::string& text) {
  refuse(text, (std::string("KeyValueCache ") + operation).c_str());
}

void refuse_sequence(const char* operation, std::int64_t number, std::int64_t next) {
  const bool known = number >= 0 && number < next;
  refuse_cache(operation, "sequence " + std::to_string(number) +
                              (known ? " was released; its tokens are gone"
                                     : " is not of this cache; add() and fork() give sequences"));
}

std::int64_t bytes_per_page(const KeyValueCacheOptions& options) {
  std::int64_t width = 0;
  std::int64_t bytes = 0;
  const auto element = static_cast<std::int64_t>(size_of(options.dtype));
  const bool fits = !__builtin_add_overflow(options.head_width, options.value_width, &width) &&
                    multiply(width, options.key_heads, bytes) &&
                    multiply(bytes, kPageTokens * element, bytes);
  return fits ? bytes : -1;
}

void check_cache_options(const KeyValueCacheOptions& options) {
  check_extent("key_heads", options.key_heads);
  check_extent("head_width", options.head_width);
  check_extent("value_width", options.value_width);
  check_extent("capacity", options.capacity);
  if (options.window < 0) {
    refuse_cache("options", "window " + std::to_string(options.window) +
                                " is negative; it must be a count of tokens, or 0 for none");
  }
  if (options.dtype != DType::float32 && options.dtype != DType::bfloat16 &&
      options.dtype != DType::float16) {
    refuse_cache("options", "dtype is " + std::string(name_of(options.dtype)) +
                                "; a cache stores float32, bfloat16 or float16");
  }
  const std::int64_t page = bytes_per_page(options);
  std::int64_t all = 0;
  if (page < 0 || !multiply(page, (options.capacity - 1) / kPageTokens + 1, all)) {
    refuse_cache("options", "capacity " + std::to_string(options.capacity) + " tokens of " +
                                std::to_string(options.key_heads) + " key heads, widths " +
                                std::to_string(options.head_width) + " and " +
                                std::to_string(options.value_width) +
                                ": the bytes do not fit 63 bits");
  }
}

std::int64_t first_needed(const KeyValueCacheOptions& options, std::int64_t length) {
  if (options.window == 0) return 0;
  return std::max<std::int64_t>(0, length - options.window + 1);
}

void check_drop(const KeyValueCacheOptions& options, std::int64_t number,
                const KeyValueCache::Pages::Tokens& tokens, std::int64_t count) {
  if (count < 0 || count > tokens.length) {
    refuse_cache("drop_last", "sequence " + std::to_string(number) + " has " +
                                  std::to_string(tokens.length) + " tokens; " +
                                  std::to_string(count) + " of them cannot be dropped");
  }
  const std::int64_t kept = tokens.first_kept();
  if (count == 0 || kept == 0) return;
  const std::int64_t left = tokens.length - count;
  if (first_needed(options, left) >= kept) return;
  refuse_cache("drop_last",
               "with " + std::to_string(left) + " tokens left in sequence " +
                   std::to_string(number) + ", the next query's window of " +
                   std::to_string(options.window) + " reaches back to token " +
                   std::to_string(first_needed(options, left)) + ", but those before " +
                   std::to_string(kept) + " were given back; at most " +
                   std::to_string(tokens.length - (kept + options.window - 1)) + " can be dropped");
}

void check_new_tokens(const KeyValueCacheOptions& options, std::int64_t batch, const View& k,
                      const View& v) {
  const std::int64_t tokens = k && k.rank() == 4 ? k.shape()[2] : 0;
  check_array(options, "k", k, {batch, options.key_heads, tokens, options.head_width});
  check_array(options, "v", v, {batch, options.key_heads, tokens, options.value_width});
  if (tokens > kLongestAxis) {
    refuse_cache("append", described("k", k) + " has more than 2^38 tokens");
  }
}

}  // namespace volvelle
