#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "volvelle/attention/key_value_cache.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

class LanguageModel;

struct ModelCacheOptions {
  std::int64_t capacity = 0;     ///< tokens that all sequences together may hold, in whole pages
  DType dtype = DType::float32;  ///< storage: float32, bfloat16 or float16
};

/// The keys and values of every attention of a model, for sequences that grow: one KeyValueCache
/// per attention, kept in step. What a cache holds depends on the position scheme of its layer:
/// keys turned already, or as they were projected. Memory is that of KeyValueCache for each
/// attention: pages as they are needed up to `capacity`, shared by forks until one of them grows,
/// given back by release and truncate to whoever grows next. Every call either does all it says or
/// throws and changes nothing.
class VOLVELLE_API ModelCache {
 public:
  /// The model must outlive the cache. Throws InvalidArgument for a capacity below 1, for models
  /// whose attention is not causal and for float64 models.
  ModelCache(const LanguageModel& model, const ModelCacheOptions& options);
  ~ModelCache();
  ModelCache(ModelCache&&) noexcept;
  ModelCache& operator=(ModelCache&&) noexcept;

  /// A new, empty sequence.
  Sequence add();
  /// A new sequence with the tokens of another, whose pages it shares.
  Sequence fork(Sequence sequence);
  void release(Sequence sequence);
  /// Forgets the tokens from `length` on. Throws InvalidArgument beyond the sequence's length.
  void truncate(Sequence sequence, std::int64_t length);

  std::int64_t length(Sequence sequence) const;
  std::int64_t attentions() const noexcept;   ///< how many caches there are
  KeyValueCacheUsage usage() const noexcept;  ///< of all of them together

  class Layers;  ///< inside the library
  Layers& layers() noexcept { return *layers_; }
  const Layers& layers() const noexcept { return *layers_; }

 private:
  std::unique_ptr<Layers> layers_;
};

}  // namespace volvelle
