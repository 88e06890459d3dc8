#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/attention_forward.h"
#include "volvelle/attention/key_value_cache.h"

namespace volvelle {

/// Tokens in a page: one tile of the fused walk, so that no tile crosses pages.
inline constexpr std::int64_t kPageTokens = kernels::kTileKeys;

/// The pages of a cache and the sequences made of them. A page holds, for each key head in turn,
/// the keys of its tokens [tokens][D] and then their values [tokens][E]. Pages count their owners;
/// a page with several is never written.
class KeyValueCache::Pages {
 public:
  /// One sequence: pages[i] holds tokens [(first_page + i) * kPageTokens, ...) up to `length`.
  struct Tokens {
    std::int64_t length = 0;
    std::int64_t first_page = 0;  ///< the pages before it were given back
    std::vector<std::int64_t> pages;

    std::int64_t first_kept() const { return first_page * kPageTokens; }
  };

  /// Throws as KeyValueCache's constructor does.
  explicit Pages(const KeyValueCacheOptions& options);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  const KeyValueCacheOptions& options() const { return options_; }
  KeyValueCacheUsage usage() const;

  /// The tokens of a sequence; `operation` is for the message when there is no such sequence.
  const Tokens& tokens(Sequence sequence, const char* operation) const;
  /// Row `token` (of those kept) of key head g: D elements, the next token's right behind.
  const std::byte* key(const Tokens& tokens, std::int64_t g, std::int64_t token) const;
  const std::byte* value(const Tokens& tokens, std::int64_t g, std::int64_t token) const;

  Sequence add();
  Sequence fork(Sequence sequence);
  void release(Sequence sequence);
  void drop_last(Sequence sequence, std::int64_t count);
  /// k (B,G,n,D) and v (B,G,n,E), checked for everything but room.
  void append(std::span<const Sequence> sequences, const View& k, const View& v);
  std::int64_t pages_needed(std::span<const Sequence> sequences,
                            std::span<const std::int64_t> counts) const;

 private:
  /// What new tokens of some rows ask of the pages.
  struct Demand {
    std::int64_t freed = 0;            ///< given back by the window, before anything is taken
    std::vector<std::int64_t> needed;  ///< taken by the rows up to each
  };
  std::vector<const Tokens*> different(std::span<const Sequence> sequences,
                                       const char* operation) const;
  std::int64_t first_page_kept(const Tokens& tokens) const;
  Demand demand(std::span<const Tokens* const> rows, std::span<const std::int64_t> counts) const;
  Tokens& find(Sequence sequence, const char* operation);
  std::int64_t pages_in_use() const;
  void hold(std::int64_t pages);
  std::int64_t take();
  void give_back(std::int64_t page) noexcept;
  void give_back_before(Tokens& tokens, std::int64_t first_page) noexcept;
  void make_last_page_own(Tokens& tokens) noexcept;
  std::byte* key_rows(std::int64_t page, std::int64_t g) const;
  std::byte* value_rows(std::int64_t page, std::int64_t g) const;

  KeyValueCacheOptions options_;
  std::int64_t element_bytes_ = 0, page_bytes_ = 0, capacity_pages_ = 0;
  std::vector<std::byte*> blocks_;    // of one or more pages each
  std::vector<std::byte*> memory_;    // of each page
  std::vector<std::int64_t> owners_;  // sequences that hold it; 0: free
  std::vector<std::int64_t> free_;    // pages without an owner
  std::int64_t next_sequence_ = 0;
  std::unordered_map<std::int64_t, Tokens> sequences_;
};

}  // namespace volvelle
