#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attention/key_value_pages.h"

namespace volvelle {

/// Throws InvalidArgument("[KeyValueCache " + operation + "] " + text).
[[noreturn]] void refuse_cache(const char* operation, const std::string& text);

/// There is no sequence of this number: it was released, or never given out (`next` is the first
/// number not given out).
[[noreturn]] void refuse_sequence(const char* operation, std::int64_t number, std::int64_t next);

/// Extents, dtype and window; that the bytes of a full cache fit 63 bits.
void check_cache_options(const KeyValueCacheOptions& options);

/// Bytes of one page; -1 when they do not fit 63 bits.
std::int64_t bytes_per_page(const KeyValueCacheOptions& options);

/// `count` tokens can go: they are there, and what a window gave back is not needed again.
void check_drop(const KeyValueCacheOptions& options, std::int64_t number,
                const KeyValueCache::Pages::Tokens& tokens, std::int64_t count);

/// Keys (B,G,n,D) and values (B,G,n,E) of new tokens: shapes, dtypes, memory.
void check_new_tokens(const KeyValueCacheOptions& options, std::int64_t batch, const View& k,
                      const View& v);

/// Queries of the tokens from `length` on see nothing before this token.
std::int64_t first_needed(const KeyValueCacheOptions& options, std::int64_t length);

}  // namespace volvelle
