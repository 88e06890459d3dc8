#include "volvelle/nn/model_cache.h"

#include <string>
#include <utility>

#include "nn/model_cache_layers.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/language_model.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[model cache] " + text);
}

std::string number(Sequence sequence) {
  return std::to_string(static_cast<std::int64_t>(sequence));
}

}  // namespace

ModelCache::Layers::Layers(const LanguageModel& model, const ModelCacheOptions& options)
    : model_(&model) {
  const StackOptions& stack = model.options().stack;
  if (options.capacity < 1) {
    refuse("capacity=" + std::to_string(options.capacity) +
           " must be positive: tokens that all sequences together may hold");
  }
  if (!stack.causal) {
    refuse(
        "the model's attention is not causal: every token sees those behind it, so nothing that a "
        "cache holds stays valid; set StackOptions::causal");
  }
  if (stack.dtype == DType::float64) {
    refuse("the model is float64, and a cache holds float32 at most; use a float32 model");
  }
  for (const MultiHeadAttention* attention : model.stack().attentions()) {
    const MultiHeadAttentionOptions& own = attention->options();
    places_.emplace(attention, caches_.size());
    caches_.emplace_back(KeyValueCacheOptions{.key_heads = own.key_heads,
                                              .head_width = own.head_width,
                                              .dtype = options.dtype,
                                              .capacity = options.capacity});
  }
}

KeyValueCacheUsage ModelCache::Layers::usage_of_one() const noexcept {
  return caches_.empty() ? KeyValueCacheUsage{} : caches_.front().usage();
}

KeyValueCacheUsage ModelCache::Layers::usage() const noexcept {
  KeyValueCacheUsage sum;
  for (const KeyValueCache& cache : caches_) {
    const KeyValueCacheUsage own = cache.usage();
    sum.pages += own.pages;
    sum.capacity_pages += own.capacity_pages;
    sum.page_tokens = own.page_tokens;
    sum.bytes += own.bytes;
    sum.capacity_bytes += own.capacity_bytes;
  }
  return sum;
}

bool ModelCache::Layers::has_room(std::span<const Sequence> sequences,
                                  std::span<const std::int64_t> counts) const {
  std::vector<Sequence> names(sequences.size());
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    for (std::size_t b = 0; b < names.size(); ++b) {
      names[b] = find(sequences[b], "extend").names[i];
    }
    const KeyValueCacheUsage usage = caches_[i].usage();
    if (caches_[i].pages_needed(names, counts) > usage.capacity_pages - usage.pages) return false;
  }
  return true;
}

const ModelCache::Layers::Row& ModelCache::Layers::find(Sequence sequence,
                                                        const char* operation) const {
  const auto met = rows_.find(static_cast<std::int64_t>(sequence));
  if (met != rows_.end()) return met->second;
  refuse(std::string(operation) + ": sequence " + number(sequence) +
         " is none of this cache (never added, or released)");
}

ModelCache::Layers::Row& ModelCache::Layers::find(Sequence sequence, const char* operation) {
  return const_cast<Row&>(std::as_const(*this).find(sequence, operation));
}

std::size_t ModelCache::Layers::place_of(const MultiHeadAttention& attention) const {
  const auto met = places_.find(&attention);
  if (met == places_.end()) refuse("this attention is none of the model that the cache is for");
  return met->second;
}

// A row whose name in each cache `make` gives; after a throw none of them has it.
template <class Make>
Sequence ModelCache::Layers::keep(std::int64_t length, const Make& make) {
  Row row;
  row.length = length;
  row.names.reserve(caches_.size());
  const auto place = rows_.try_emplace(next_).first;
  try {
    for (std::size_t i = 0; i < caches_.size(); ++i) row.names.push_back(make(i));
  } catch (...) {
    for (std::size_t i = 0; i < row.names.size(); ++i) caches_[i].release(row.names[i]);
    rows_.erase(place);
    throw;
  }
  place->second = std::move(row);
  return Sequence{next_++};
}

Sequence ModelCache::Layers::add() {
  return keep(0, [&](std::size_t i) { return caches_[i].add(); });
}

Sequence ModelCache::Layers::fork(Sequence sequence) {
  // A copy: the table may move its rows when it grows.
  const Row origin = find(sequence, "fork");
  return keep(origin.length, [&](std::size_t i) { return caches_[i].fork(origin.names[i]); });
}

void ModelCache::Layers::release(Sequence sequence) {
  const Row& row = find(sequence, "release");
  for (std::size_t i = 0; i < caches_.size(); ++i) caches_[i].release(row.names[i]);
  rows_.erase(static_cast<std::int64_t>(sequence));
}

void ModelCache::Layers::truncate(Sequence sequence, std::int64_t length) {
  Row& row = find(sequence, "truncate");
  if (length < 0 || length > row.length) {
    refuse("truncate: length " + std::to_string(length) + " of sequence " + number(sequence) +
           " must lie in [0, " + std::to_string(row.length) + "], what it holds");
  }
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    caches_[i].drop_last(row.names[i], row.length - length);
  }
  row.length = length;
}

ModelCache::ModelCache(const LanguageModel& model, const ModelCacheOptions& options)
    : layers_(std::make_unique<Layers>(model, options)) {}
ModelCache::~ModelCache() = default;
ModelCache::ModelCache(ModelCache&&) noexcept = default;
ModelCache& ModelCache::operator=(ModelCache&&) noexcept = default;

Sequence ModelCache::add() { return layers_->add(); }
Sequence ModelCache::fork(Sequence sequence) { return layers_->fork(sequence); }
void ModelCache::release(Sequence sequence) { layers_->release(sequence); }
void ModelCache::truncate(Sequence sequence, std::int64_t length) {
  layers_->truncate(sequence, length);
}

std::int64_t ModelCache::length(Sequence sequence) const {
  return std::as_const(*layers_).find(sequence, "length").length;
}
std::int64_t ModelCache::attentions() const noexcept { return layers_->attentions(); }
KeyValueCacheUsage ModelCache::usage() const noexcept { return layers_->usage(); }

}  // namespace volvelle
