#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "volvelle/nn/model_cache.h"
#include "volvelle/nn/multi_head_attention.h"

namespace volvelle {

/// The caches of a model's attentions, and which of their sequences belong together.
class ModelCache::Layers {
 public:
  /// One sequence: what it is called in the cache of each attention.
  struct Row {
    std::vector<Sequence> names;
    std::int64_t length = 0;  ///< in every one of them, between calls
  };

  /// Throws as ModelCache's constructor does.
  Layers(const LanguageModel& model, const ModelCacheOptions& options);

  const LanguageModel* model() const { return model_; }
  std::int64_t attentions() const { return static_cast<std::int64_t>(caches_.size()); }
  KeyValueCacheUsage usage() const noexcept;
  /// The same of each of them; nothing where there is no attention.
  KeyValueCacheUsage usage_of_one() const noexcept;

  /// Whether every cache takes counts[b] more tokens of each sequences[b].
  bool has_room(std::span<const Sequence> sequences, std::span<const std::int64_t> counts) const;

  /// Throws InvalidArgument for an unknown sequence, beginning with "[model cache] operation".
  Row& find(Sequence sequence, const char* operation);
  const Row& find(Sequence sequence, const char* operation) const;
  /// The place of an attention's cache. Throws InvalidArgument for one that is not the model's.
  std::size_t place_of(const MultiHeadAttention& attention) const;
  KeyValueCache& cache(std::size_t place) { return caches_[place]; }

  Sequence add();
  Sequence fork(Sequence sequence);
  void release(Sequence sequence);
  void truncate(Sequence sequence, std::int64_t length);

 private:
  template <class Make>
  Sequence keep(std::int64_t length, const Make& make);

  const LanguageModel* model_;
  std::vector<KeyValueCache> caches_;
  std::unordered_map<const MultiHeadAttention*, std::size_t> places_;
  std::unordered_map<std::int64_t, Row> rows_;
  std::int64_t next_ = 0;
};

}  // namespace volvelle
