#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/model_cache_layers.h"

namespace volvelle {

/// New tokens of some sequences on their way through a model: what every attention is told, and
/// what takes it all back. Row b of the batch is the sequence of that number.
class CacheStep {
 public:
  /// Throws InvalidArgument for unknown sequences and for one that is listed twice.
  CacheStep(ModelCache::Layers& layers, std::span<const Sequence> sequences, const char* operation);
  /// Unless `finish` was called, every cache is as it was before the first append.
  ~CacheStep();
  CacheStep(const CacheStep&) = delete;
  CacheStep& operator=(const CacheStep&) = delete;

  /// The next pass: the last counts[b] tokens of row b are new.
  void begin_pass(std::vector<std::int64_t> counts);
  void end_pass();
  void finish() noexcept;

  std::int64_t rows() const { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t count(std::int64_t row) const { return counts_[static_cast<std::size_t>(row)]; }
  /// Tokens of a row before this pass.
  std::int64_t start(std::int64_t row) const { return starts_[static_cast<std::size_t>(row)]; }

  KeyValueCache& cache(const MultiHeadAttention& attention) const {
    return layers_.cache(layers_.place_of(attention));
  }
  /// What rows [first, first + count) are called in that cache.
  std::vector<Sequence> names(const MultiHeadAttention& attention, std::int64_t first,
                              std::int64_t count) const;

 private:
  ModelCache::Layers& layers_;
  std::vector<ModelCache::Layers::Row*> rows_;
  std::vector<std::int64_t> starts_, counts_;
  bool finished_ = false;
};

}  // namespace volvelle
