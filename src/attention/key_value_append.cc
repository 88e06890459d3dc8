// Appending to a cache: what is needed is worked out and held first, so that nothing that throws
// comes after the first change.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "attention/key_value_checks.h"
#include "attention/key_value_pages.h"
#include "attention/resolve_layout.h"
#include "kernels/convert.h"

namespace volvelle {
namespace {

// Elements that are gathered from a strided row before they are narrowed.
constexpr std::int64_t kRun = 256;

// One new row into its place of the cache, in the storage type.
void store_row(const std::byte* from, DType dtype, std::int64_t stride, std::int64_t width,
               DType stored, std::byte* to) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  if (dtype == stored) {
    if (stride == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(width * element));
      return;
    }
    for (std::int64_t e = 0; e < width; ++e) {
      std::memcpy(to + e * element, from + e * stride * element, static_cast<std::size_t>(element));
    }
    return;
  }
  const kernels::ConvertKernels& kernels = kernels::convert_kernels();
  const auto narrow = stored == DType::float16 ? kernels.narrow_float16 : kernels.narrow_bfloat16;
  const auto* row = reinterpret_cast<const float*>(from);
  auto* place = reinterpret_cast<std::uint16_t*>(to);
  if (stride == 1) return narrow(row, width, place);
  float run[kRun];
  for (std::int64_t start = 0; start < width; start += kRun) {
    const std::int64_t count = std::min(kRun, width - start);
    for (std::int64_t e = 0; e < count; ++e) run[e] = row[(start + e) * stride];
    narrow(run, count, place + start);
  }
}

// Rows [row, row + count) of head (b, g) of a view into unbroken rows.
void store_rows_of(const Strided4& view, std::int64_t b, std::int64_t g, std::int64_t row,
                   std::int64_t count, std::int64_t width, DType stored, std::byte* to) {
  const auto element = static_cast<std::int64_t>(size_of(view.dtype));
  const auto stored_bytes = static_cast<std::int64_t>(size_of(stored));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto* from =
        static_cast<const std::byte*>(view.data) + view.offset(b, g, row + i, 0) * element;
    store_row(from, view.dtype, view.stride[3], width, stored, to + i * width * stored_bytes);
  }
}

// Owners that pages lose in the course of one append, before it has happened.
class Losses {
 public:
  std::int64_t& of(std::int64_t page) {
    for (auto& [own, lost] : lost_) {
      if (own == page) return lost;
    }
    return lost_.emplace_back(page, 0).second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> lost_;
};

std::int64_t pages_of(std::int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

}  // namespace

std::vector<const KeyValueCache::Pages::Tokens*> KeyValueCache::Pages::different(
    std::span<const Sequence> sequences, const char* operation) const {
  std::vector<const Tokens*> rows;
  rows.reserve(sequences.size());
  for (const Sequence sequence : sequences) {
    const Tokens& row = tokens(sequence, operation);
    if (std::find(rows.begin(), rows.end(), &row) != rows.end()) {
      refuse_cache(operation, "sequence " + std::to_string(static_cast<std::int64_t>(sequence)) +
                                  " is listed twice; each sequence may grow once per call");
    }
    rows.push_back(&row);
  }
  return rows;
}

// Every query from now on stands at the old length or behind.
std::int64_t KeyValueCache::Pages::first_page_kept(const Tokens& tokens) const {
  return first_needed(options_, tokens.length) / kPageTokens;
}

KeyValueCache::Pages::Demand KeyValueCache::Pages::demand(
    std::span<const Tokens* const> rows, std::span<const std::int64_t> counts) const {
  Demand demand;
  // What the window gives back comes first: the room is there for the new tokens.
  Losses losses;
  const auto lose = [&](std::int64_t page) {
    if (++losses.of(page) == owners_[static_cast<std::size_t>(page)]) ++demand.freed;
  };
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const Tokens& row = *rows[b];
    if (counts[b] == 0) continue;
    const std::int64_t gone = std::clamp<std::int64_t>(first_page_kept(row) - row.first_page, 0,
                                                       static_cast<std::int64_t>(row.pages.size()));
    for (std::int64_t i = 0; i < gone; ++i) lose(row.pages[static_cast<std::size_t>(i)]);
  }
  std::int64_t needed = 0;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const Tokens& row = *rows[b];
    needed += pages_of(row.length + counts[b]) - pages_of(row.length);
    if (counts[b] > 0 && row.length % kPageTokens != 0) {
      const std::int64_t last = row.pages.back();
      if (owners_[static_cast<std::size_t>(last)] - losses.of(last) > 1) {
        ++losses.of(last);
        ++needed;
      }
    }
    demand.needed.push_back(needed);
  }
  return demand;
}

std::int64_t KeyValueCache::Pages::pages_needed(std::span<const Sequence> sequences,
                                                std::span<const std::int64_t> counts) const {
  constexpr const char* kOperation = "pages_needed";
  if (counts.size() != sequences.size()) {
    refuse_cache(kOperation, std::to_string(counts.size()) + " counts for " +
                                 std::to_string(sequences.size()) +
                                 " sequences; one for each is needed");
  }
  for (const std::int64_t count : counts) {
    if (count >= 0 && count <= kLongestAxis) continue;
    refuse_cache(kOperation,
                 "count " + std::to_string(count) + " of new tokens is not within [0, 2^38]");
  }
  const std::vector<const Tokens*> rows = different(sequences, kOperation);
  const Demand all = demand(rows, counts);
  return all.needed.empty() ? 0 : all.needed.back() - all.freed;
}

void KeyValueCache::Pages::append(std::span<const Sequence> sequences, const View& k,
                                  const View& v) {
  const std::vector<const Tokens*> found = different(sequences, "append");
  std::vector<Tokens*> rows;
  rows.reserve(found.size());
  for (const Tokens* row : found) rows.push_back(const_cast<Tokens*>(row));
  check_new_tokens(options_, static_cast<std::int64_t>(sequences.size()), k, v);
  const std::int64_t count = k.shape()[2];
  if (count == 0) return;

  const Demand all = demand(found, std::vector<std::int64_t>(rows.size(), count));
  const std::int64_t room = capacity_pages_ - pages_in_use() + all.freed;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    Tokens& row = *rows[b];
    if (row.length > kLongestAxis - count) {
      refuse_cache("append", "a sequence holds at most 2^38 tokens");
    }
    if (all.needed[b] > room) {
      refuse_cache("append", "the cache is full: sequence " +
                                 std::to_string(static_cast<std::int64_t>(sequences[b])) + " is " +
                                 std::to_string(row.length) + " tokens long and " +
                                 std::to_string(count) + " more do not fit; " +
                                 std::to_string(room) + " of " + std::to_string(capacity_pages_) +
                                 " pages of " + std::to_string(kPageTokens) +
                                 " tokens are free (capacity " + std::to_string(options_.capacity) +
                                 "); release or shorten a sequence, or make a larger cache");
    }
    const auto pages = static_cast<std::size_t>(pages_of(row.length + count) - row.first_page);
    if (row.pages.capacity() < pages) row.pages.reserve(std::max(pages, 2 * row.pages.size()));
  }
  if (!rows.empty()) hold(all.needed.back() - all.freed);

  // From here on nothing throws.
  for (Tokens* row : rows) give_back_before(*row, first_page_kept(*row));
  std::int64_t shape[4];
  const Strided4 keys = on_four_axes({"k", k}, shape);
  const Strided4 values = on_four_axes({"v", v}, shape);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    Tokens& row = *rows[b];
    make_last_page_own(row);
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t at = row.length % kPageTokens;
      if (at == 0) row.pages.push_back(take());
      const std::int64_t page = row.pages.back();
      const std::int64_t part = std::min(kPageTokens - at, count - done);
      for (std::int64_t g = 0; g < options_.key_heads; ++g) {
        const auto batch = static_cast<std::int64_t>(b);
        store_rows_of(keys, batch, g, done, part, options_.head_width, options_.dtype,
                      key_rows(page, g) + at * options_.head_width * element_bytes_);
        store_rows_of(values, batch, g, done, part, options_.value_width, options_.dtype,
                      value_rows(page, g) + at * options_.value_width * element_bytes_);
      }
      row.length += part;
      done += part;
    }
  }
}

}  // namespace volvelle
