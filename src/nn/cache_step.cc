#include "nn/cache_step.h"

#include <algorithm>
#include <string>
#include <utility>

#include "volvelle/base/error.h"

namespace volvelle {

CacheStep::CacheStep(ModelCache::Layers& layers, std::span<const Sequence> sequences,
                     const char* operation)
    : layers_(layers) {
  for (const Sequence sequence : sequences) {
    ModelCache::Layers::Row& row = layers.find(sequence, operation);
    if (std::find(rows_.begin(), rows_.end(), &row) != rows_.end()) {
      throw InvalidArgument("[model cache] " + std::string(operation) + ": sequence " +
                            std::to_string(static_cast<std::int64_t>(sequence)) +
                            " is listed twice; each sequence may grow once per call (fork it to "
                            "read on in two ways)");
    }
    rows_.push_back(&row);
    starts_.push_back(row.length);
  }
}

CacheStep::~CacheStep() {
  if (finished_) return;
  for (const ModelCache::Layers::Row* row : rows_) {
    for (std::size_t i = 0; i < row->names.size(); ++i) {
      KeyValueCache& cache = layers_.cache(i);
      cache.drop_last(row->names[i], cache.length(row->names[i]) - row->length);
    }
  }
}

void CacheStep::begin_pass(std::vector<std::int64_t> counts) { counts_ = std::move(counts); }

void CacheStep::end_pass() {
  for (std::size_t b = 0; b < rows_.size(); ++b) {
    starts_[b] += counts_[b];
    for (std::size_t i = 0; i < rows_[b]->names.size(); ++i) {
      if (layers_.cache(i).length(rows_[b]->names[i]) == starts_[b]) continue;
      throw InternalError("[model cache] an attention did not append what it was given");
    }
  }
}

void CacheStep::finish() noexcept {
  for (std::size_t b = 0; b < rows_.size(); ++b) rows_[b]->length = starts_[b];
  finished_ = true;
}

std::vector<Sequence> CacheStep::names(const MultiHeadAttention& attention, std::int64_t first,
                                       std::int64_t count) const {
  const std::size_t place = layers_.place_of(attention);
  std::vector<Sequence> names;
  for (std::int64_t b = first; b < first + count; ++b) {
    names.push_back(rows_[static_cast<std::size_t>(b)]->names[place]);
  }
  return names;
}

}  // namespace volvelle
