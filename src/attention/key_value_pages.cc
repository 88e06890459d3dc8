#include "attention/key_value_pages.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "attention/key_value_checks.h"
#include "base/aligned_memory.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{8} << 20;

}  // namespace

KeyValueCache::Pages::Pages(const KeyValueCacheOptions& options) : options_(options) {
  if (options_.value_width == 0) options_.value_width = options_.head_width;
  check_cache_options(options_);
  element_bytes_ = static_cast<std::int64_t>(size_of(options_.dtype));
  page_bytes_ = bytes_per_page(options_);
  capacity_pages_ = (options_.capacity - 1) / kPageTokens + 1;
}

KeyValueCache::Pages::~Pages() {
  for (std::byte* block : blocks_) aligned_release(block);
}

KeyValueCacheUsage KeyValueCache::Pages::usage() const {
  KeyValueCacheUsage usage;
  usage.pages = pages_in_use();
  usage.capacity_pages = capacity_pages_;
  usage.page_tokens = kPageTokens;
  usage.bytes = memory_.size() * static_cast<std::size_t>(page_bytes_);
  usage.capacity_bytes = static_cast<std::size_t>(capacity_pages_ * page_bytes_);
  return usage;
}

std::int64_t KeyValueCache::Pages::pages_in_use() const {
  return static_cast<std::int64_t>(memory_.size() - free_.size());
}

const KeyValueCache::Pages::Tokens& KeyValueCache::Pages::tokens(Sequence sequence,
                                                                 const char* operation) const {
  const auto number = static_cast<std::int64_t>(sequence);
  const auto found = sequences_.find(number);
  if (found == sequences_.end()) refuse_sequence(operation, number, next_sequence_);
  return found->second;
}

KeyValueCache::Pages::Tokens& KeyValueCache::Pages::find(Sequence sequence, const char* operation) {
  return const_cast<Tokens&>(tokens(sequence, operation));
}

std::byte* KeyValueCache::Pages::key_rows(std::int64_t page, std::int64_t g) const {
  const std::int64_t width = options_.head_width + options_.value_width;
  return memory_[static_cast<std::size_t>(page)] + g * kPageTokens * width * element_bytes_;
}

std::byte* KeyValueCache::Pages::value_rows(std::int64_t page, std::int64_t g) const {
  return key_rows(page, g) + kPageTokens * options_.head_width * element_bytes_;
}

const std::byte* KeyValueCache::Pages::key(const Tokens& tokens, std::int64_t g,
                                           std::int64_t token) const {
  const auto place = static_cast<std::size_t>(token / kPageTokens - tokens.first_page);
  return key_rows(tokens.pages[place], g) +
         token % kPageTokens * options_.head_width * element_bytes_;
}

const std::byte* KeyValueCache::Pages::value(const Tokens& tokens, std::int64_t g,
                                             std::int64_t token) const {
  const auto place = static_cast<std::size_t>(token / kPageTokens - tokens.first_page);
  return value_rows(tokens.pages[place], g) +
         token % kPageTokens * options_.value_width * element_bytes_;
}

Sequence KeyValueCache::Pages::add() {
  sequences_.emplace(next_sequence_, Tokens{});
  return Sequence{next_sequence_++};
}

Sequence KeyValueCache::Pages::fork(Sequence sequence) {
  Tokens copy = tokens(sequence, "fork");
  sequences_.emplace(next_sequence_, copy);
  for (const std::int64_t page : copy.pages) ++owners_[static_cast<std::size_t>(page)];
  return Sequence{next_sequence_++};
}

void KeyValueCache::Pages::release(Sequence sequence) {
  Tokens& tokens = find(sequence, "release");
  for (const std::int64_t page : tokens.pages) give_back(page);
  sequences_.erase(static_cast<std::int64_t>(sequence));
}

void KeyValueCache::Pages::drop_last(Sequence sequence, std::int64_t count) {
  Tokens& tokens = find(sequence, "drop_last");
  check_drop(options_, static_cast<std::int64_t>(sequence), tokens, count);
  tokens.length -= count;
  const std::int64_t pages = std::max<std::int64_t>(
      0, (tokens.length + kPageTokens - 1) / kPageTokens - tokens.first_page);
  while (static_cast<std::int64_t>(tokens.pages.size()) > pages) {
    give_back(tokens.pages.back());
    tokens.pages.pop_back();
  }
}

// Sees to it that `pages` free pages are there. Throws before anything changes. Memory grows by as
// much as there is, up to blocks that the system gives huge pages to: small ones cost a long
// context's reader a fifth of its speed.
void KeyValueCache::Pages::hold(std::int64_t pages) {
  while (static_cast<std::int64_t>(free_.size()) < pages) {
    const auto there = static_cast<std::int64_t>(memory_.size());
    const std::int64_t most =
        std::min(capacity_pages_ - there, (kBlockBytes - 1) / page_bytes_ + 1);
    const std::int64_t more = std::clamp<std::int64_t>(there, 1, most);
    const auto all = static_cast<std::size_t>(there + more);
    if (memory_.capacity() < all) memory_.reserve(2 * all);
    owners_.reserve(memory_.capacity());
    free_.reserve(memory_.capacity());  // giving back never allocates
    blocks_.reserve(memory_.capacity());
    auto* block =
        static_cast<std::byte*>(aligned_allocate(static_cast<std::size_t>(more * page_bytes_)));
    if (block == nullptr) {
      throw IoError("[KeyValueCache append] no memory for " + std::to_string(more * page_bytes_) +
                    " bytes of pages; " + std::to_string(there) + " of at most " +
                    std::to_string(capacity_pages_) + " pages are there");
    }
    blocks_.push_back(block);
    for (std::int64_t page = more - 1; page >= 0; --page) free_.push_back(there + page);
    for (std::int64_t page = 0; page < more; ++page) {
      memory_.push_back(block + page * page_bytes_);
      owners_.push_back(0);
    }
  }
}

std::int64_t KeyValueCache::Pages::take() {
  const std::int64_t page = free_.back();
  free_.pop_back();
  owners_[static_cast<std::size_t>(page)] = 1;
  return page;
}

void KeyValueCache::Pages::give_back(std::int64_t page) noexcept {
  if (--owners_[static_cast<std::size_t>(page)] == 0) free_.push_back(page);
}

void KeyValueCache::Pages::give_back_before(Tokens& tokens, std::int64_t first_page) noexcept {
  const auto count = static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(
      first_page - tokens.first_page, 0, static_cast<std::int64_t>(tokens.pages.size())));
  for (std::ptrdiff_t i = 0; i < count; ++i) give_back(tokens.pages[static_cast<std::size_t>(i)]);
  tokens.pages.erase(tokens.pages.begin(), tokens.pages.begin() + count);
  tokens.first_page += count;
}

// Copy on write: of all pages of a sequence only the last, partly filled one is ever written again.
void KeyValueCache::Pages::make_last_page_own(Tokens& tokens) noexcept {
  const std::int64_t used = tokens.length % kPageTokens;
  if (used == 0 || owners_[static_cast<std::size_t>(tokens.pages.back())] == 1) return;
  const std::int64_t shared = tokens.pages.back();
  const std::int64_t own = take();
  for (std::int64_t g = 0; g < options_.key_heads; ++g) {
    std::memcpy(key_rows(own, g), key_rows(shared, g),
                static_cast<std::size_t>(used * options_.head_width * element_bytes_));
    std::memcpy(value_rows(own, g), value_rows(shared, g),
                static_cast<std::size_t>(used * options_.value_width * element_bytes_));
  }
  give_back(shared);
  tokens.pages.back() = own;
}

}  // namespace volvelle
