#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/dtype.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// A sequence in a KeyValueCache. A number is never used again after `release`.
enum class Sequence : std::int64_t {};

struct KeyValueCacheOptions {
  std::int64_t key_heads = 1;    ///< G
  std::int64_t head_width = 0;   ///< D
  std::int64_t value_width = 0;  ///< E; 0: as head_width
  DType dtype = DType::float32;  ///< storage: float32, bfloat16 or float16
  std::int64_t capacity = 0;     ///< tokens that all sequences together may hold, in whole pages
  std::int64_t window = 0;       ///< attention never looks further back: older pages are given
                                 ///< back as a sequence grows; 0: everything is kept
};

/// How much a cache holds.
struct KeyValueCacheUsage {
  std::int64_t pages = 0;  ///< in use; a shared one counts once
  std::int64_t capacity_pages = 0;
  std::int64_t page_tokens = 0;    ///< tokens per page
  std::size_t bytes = 0;           ///< allocated
  std::size_t capacity_bytes = 0;  ///< allocated when full
};

/// Keys and values of growing sequences, in pages: growing never copies, a forked sequence shares
/// its pages with its origin until one of them writes (copy on write), and memory stays within
/// `capacity`. Memory is allocated as it is needed, at most as much again as there is and 8 MiB or
/// one page at a time. Every call either does all it says or
/// throws and changes nothing. May be read from several threads at once; changes need the caller's
/// own order.
class VOLVELLE_API KeyValueCache {
 public:
  /// Throws InvalidArgument for extents below 1, a dtype that is none of the three, a window below
  /// 0.
  explicit KeyValueCache(const KeyValueCacheOptions& options);
  ~KeyValueCache();
  KeyValueCache(KeyValueCache&&) noexcept;
  KeyValueCache& operator=(KeyValueCache&&) noexcept;
  KeyValueCache(const KeyValueCache&) = delete;
  KeyValueCache& operator=(const KeyValueCache&) = delete;

  const KeyValueCacheOptions& options() const noexcept;
  KeyValueCacheUsage usage() const noexcept;

  /// A new, empty sequence.
  Sequence add();
  /// A new sequence with the tokens of another, whose pages it shares.
  Sequence fork(Sequence sequence);
  /// Forgets a sequence and gives back the pages that no other one shares.
  void release(Sequence sequence);

  /// Appends the keys and values of n new tokens. k (G,n,D), v (G,n,E); rank 2 for one key head;
  /// any strides; float32, or the cache's dtype (float64 is refused).
  /// Throws InvalidArgument for other widths, an unknown or released sequence, and when the
  /// capacity does not suffice (the message says how long the sequence is and how much is free);
  /// IoError for memory that cannot be had.
  void append(Sequence sequence, const View& k, const View& v);
  /// The same for several different sequences: k (B,G,n,D), v (B,G,n,E).
  void append(std::span<const Sequence> sequences, const View& k, const View& v);

  /// Free pages that appending counts[b] tokens to each sequences[b] would take, so that nothing
  /// need be begun that does not fit: new pages, and copies of partly filled ones that are shared,
  /// less what the window gives back. An append fits where these are at most
  /// usage().capacity_pages - usage().pages.
  /// Throws InvalidArgument for unknown sequences, one listed twice, and counts that are negative
  /// or not one for each.
  std::int64_t pages_needed(std::span<const Sequence> sequences,
                            std::span<const std::int64_t> counts) const;

  /// Forgets the last `count` tokens. With a window, no further back than what it has kept needs:
  /// an append gives back the pages that only queries before its own tokens could see, so the
  /// tokens of the last append can always be dropped, all of them.
  void drop_last(Sequence sequence, std::int64_t count);

  /// Tokens appended and not dropped, those that a window has given back included.
  std::int64_t length(Sequence sequence) const;
  /// The first token that is still stored.
  std::int64_t first_kept(Sequence sequence) const;

  class Pages;  ///< inside the library
  const Pages& pages() const noexcept { return *pages_; }

 private:
  std::unique_ptr<Pages> pages_;
};

/// Attention whose keys and values are those of a cache: row b of the batch reads sequence
/// `sequences[b]` in place. `problem` is as for `attend`, without k and v; S is the longest of the
/// lengths, keys are numbered from each sequence's first token on, and a row's `key_lengths` are
/// its sequence's length. Where neither alignment nor query_offset are given, query i of row b
/// stands at length_b - T + i: the T newest tokens of each sequence, whatever the others' lengths.
/// q and output: float32 or the cache's dtype.
/// Bits:    steps of up to 16 queries give each query the same bits, whatever their sizes and
///          however its tokens came in. Longer steps are computed in panels, which agree with these
///          and among themselves within float32's rounding. Plain k and v of the same numbers give
///          the same bits as the cache when they are more than 16.
/// Throws:  as `attend`; InvalidArgument for an unknown sequence, key_lengths, widths that are not
///          the cache's, or a mask that lets a query see a token that the cache's window gave back.
VOLVELLE_API void attend(const AttentionProblem& problem, const KeyValueCache& cache,
                         std::span<const Sequence> sequences, const AttentionOutputs& outputs,
                         const AttentionOptions& options = {});

VOLVELLE_API AttentionResult attend(const AttentionProblem& problem, const KeyValueCache& cache,
                                    std::span<const Sequence> sequences,
                                    const AttentionRequest& request = {},
                                    const AttentionOptions& options = {});

/// What `attend` would do with a problem over a cache, and why; throws what it would throw.
VOLVELLE_API AttentionPlan explain(const AttentionProblem& problem, const KeyValueCache& cache,
                                   std::span<const Sequence> sequences,
                                   const AttentionOptions& options = {});

}  // namespace volvelle
