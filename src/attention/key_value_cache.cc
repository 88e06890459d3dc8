#include "volvelle/attention/key_value_cache.h"

#include "attention/key_value_checks.h"
#include "attention/key_value_pages.h"

namespace volvelle {
namespace {

// (G,n,D), or (n,D) for one key head, as (1,G,n,D).
View with_batch(const KeyValueCacheOptions& options, const char* name, const View& view) {
  if (!view) return view;
  const int least = options.key_heads == 1 ? 2 : 3;
  if (view.rank() != 3 && view.rank() != least) {
    refuse_cache("append", std::string(name) + " " + to_string(view.shape()) +
                               " must have rank 3: key heads, tokens and width" +
                               (least == 2 ? ", or 2 without the key heads" : ""));
  }
  Shape shape;
  Strides strides;
  for (int axis = view.rank(); axis < 4; ++axis) {
    shape.push_back(1);
    strides.push_back(0);
  }
  for (int axis = 0; axis < view.rank(); ++axis) {
    shape.push_back(view.shape()[axis]);
    strides.push_back(view.strides()[axis]);
  }
  return View(view.data(), view.dtype(), shape, strides);
}

}  // namespace

KeyValueCache::KeyValueCache(const KeyValueCacheOptions& options)
    : pages_(std::make_unique<Pages>(options)) {}
KeyValueCache::~KeyValueCache() = default;
KeyValueCache::KeyValueCache(KeyValueCache&&) noexcept = default;
KeyValueCache& KeyValueCache::operator=(KeyValueCache&&) noexcept = default;

const KeyValueCacheOptions& KeyValueCache::options() const noexcept { return pages_->options(); }

KeyValueCacheUsage KeyValueCache::usage() const noexcept { return pages_->usage(); }

Sequence KeyValueCache::add() { return pages_->add(); }

Sequence KeyValueCache::fork(Sequence sequence) { return pages_->fork(sequence); }

void KeyValueCache::release(Sequence sequence) { pages_->release(sequence); }

void KeyValueCache::append(Sequence sequence, const View& k, const View& v) {
  const View keys = with_batch(options(), "k", k);
  const View values = with_batch(options(), "v", v);
  pages_->append({&sequence, 1}, keys, values);
}

void KeyValueCache::append(std::span<const Sequence> sequences, const View& k, const View& v) {
  pages_->append(sequences, k, v);
}

std::int64_t KeyValueCache::pages_needed(std::span<const Sequence> sequences,
                                         std::span<const std::int64_t> counts) const {
  return pages_->pages_needed(sequences, counts);
}

void KeyValueCache::drop_last(Sequence sequence, std::int64_t count) {
  pages_->drop_last(sequence, count);
}

std::int64_t KeyValueCache::length(Sequence sequence) const {
  return pages_->tokens(sequence, "length").length;
}

std::int64_t KeyValueCache::first_kept(Sequence sequence) const {
  return pages_->tokens(sequence, "first_kept").first_kept();
}

}  // namespace volvelle
