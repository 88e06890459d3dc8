// What a cache holds, against plain models; its memory and its errors.
#include "volvelle/attention/key_value_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "attention/key_value_pages.h"
#include "support/arrays.h"
#include "support/properties.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Element d of head g of the token with this number: exact in every storage type.
double key_of(std::int64_t token, std::int64_t g, std::int64_t d) {
  return static_cast<double>((token * 31 + g * 7 + d) % 251);
}
double value_of(std::int64_t token, std::int64_t g, std::int64_t e) {
  return -key_of(token + 3, g, e) - 1;
}

struct NewTokens {
  Tensor k, v;
};

// Tokens numbered from `first` on, for `batch` sequences one after the other.
NewTokens new_tokens(const KeyValueCacheOptions& o, std::int64_t first, std::int64_t count,
                     std::int64_t batch = 1, DType dtype = DType::float32) {
  const auto fill = [&](std::int64_t width, auto&& element) {
    std::int64_t at = 0;
    return filled(dtype, {batch, o.key_heads, count, width}, [&] {
      const std::int64_t e = at % width;
      const std::int64_t i = at / width % count;
      const std::int64_t g = at / width / count % o.key_heads;
      const std::int64_t b = at++ / width / count / o.key_heads;
      return element(first + b * count + i, g, e);
    });
  };
  return {fill(o.head_width, key_of), fill(o.value_width, value_of)};
}

double stored(const std::byte* row, DType dtype, std::int64_t at) {
  return element_as_double(View(static_cast<const void*>(row), dtype, {at + 1}), at);
}

// The numbers of the tokens in a sequence of a model, page by page: shared pages are one object.
class Model {
 public:
  Model(std::int64_t window, bool copies_on_write)
      : window_(window), copies_on_write_(copies_on_write) {}

  struct Row {
    std::int64_t length = 0, first_page = 0;
    std::vector<std::shared_ptr<std::map<std::int64_t, std::int64_t>>> pages;
  };

  void append(std::int64_t row, std::int64_t first, std::int64_t count) {
    if (count == 0) return;
    Row& own = rows[row];
    const std::int64_t needed =
        window_ > 0 ? std::max<std::int64_t>(0, own.length - window_ + 1) : 0;
    while (own.first_page < needed / 128 && !own.pages.empty()) {
      own.pages.erase(own.pages.begin());
      ++own.first_page;
    }
    for (std::int64_t i = 0; i < count; ++i, ++own.length) {
      if (own.length % 128 == 0) {
        own.pages.push_back(std::make_shared<std::map<std::int64_t, std::int64_t>>());
      } else if (own.pages.back().use_count() > 1 && copies_on_write_) {
        own.pages.back() =
            std::make_shared<std::map<std::int64_t, std::int64_t>>(*own.pages.back());
      }
      (*own.pages.back())[own.length] = first + i;
    }
  }
  void drop(std::int64_t row, std::int64_t count) {
    Row& own = rows[row];
    own.length -= count;
    while (own.first_page * 128 + static_cast<std::int64_t>(own.pages.size()) * 128 >=
               own.length + 128 &&
           !own.pages.empty()) {
      own.pages.pop_back();
    }
  }
  std::int64_t pages() const {
    std::set<const void*> distinct;
    for (const auto& [number, row] : rows) {
      for (const auto& page : row.pages) distinct.insert(page.get());
    }
    return static_cast<std::int64_t>(distinct.size());
  }

  std::map<std::int64_t, Row> rows;

 private:
  std::int64_t window_;
  bool copies_on_write_;
};

// The first thing in which cache and model differ; empty: none.
std::string difference(const KeyValueCache& cache, const Model& model) {
  const KeyValueCacheOptions& o = cache.options();
  for (const auto& [number, row] : model.rows) {
    const auto& tokens = cache.pages().tokens(Sequence{number}, "test");
    if (tokens.length != row.length) return "length of " + std::to_string(number);
    if (tokens.first_page != row.first_page) return "first page of " + std::to_string(number);
    for (std::int64_t t = tokens.first_kept(); t < tokens.length; ++t) {
      const std::int64_t token =
          row.pages[static_cast<std::size_t>(t / 128 - row.first_page)]->at(t);
      for (std::int64_t g = 0; g < o.key_heads; ++g) {
        for (std::int64_t d = 0; d < o.head_width; ++d) {
          if (stored(cache.pages().key(tokens, g, t), o.dtype, d) != key_of(token, g, d)) {
            return "key " + std::to_string(t) + " of sequence " + std::to_string(number);
          }
        }
        for (std::int64_t e = 0; e < o.value_width; ++e) {
          if (stored(cache.pages().value(tokens, g, t), o.dtype, e) != value_of(token, g, e)) {
            return "value " + std::to_string(t) + " of sequence " + std::to_string(number);
          }
        }
      }
    }
  }
  if (cache.usage().pages != model.pages()) return "pages in use";
  return {};
}

KeyValueCacheOptions small(DType dtype = DType::float32, std::int64_t window = 0) {
  return {.key_heads = 2,
          .head_width = 3,
          .value_width = 2,
          .dtype = dtype,
          .capacity = 12 * 128,
          .window = window};
}

TEST(KeyValueCache, HoldsWhatAModelHoldsUnderAnySequenceOfCalls) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    holds("the cache is the model, " + std::string(name_of(dtype)), [dtype] {
      const auto window = *rc::gen::element<std::int64_t>(0, 0, 1, 2, 100, 128, 129, 300);
      KeyValueCache cache(small(dtype, window));
      Model model(window, true);
      std::vector<std::int64_t> live;
      std::int64_t token = 0;
      const auto any = [&] {
        return live[static_cast<std::size_t>(
            *rc::gen::inRange<int>(0, static_cast<int>(live.size())))];
      };
      const int calls = *rc::gen::inRange(1, 40);
      for (int call = 0; call < calls; ++call) {
        const int kind = live.empty() ? 0 : *rc::gen::inRange(0, 10);
        if (kind == 0) {
          live.push_back(static_cast<std::int64_t>(cache.add()));
          model.rows[live.back()] = {};
        } else if (kind == 1) {
          const std::int64_t from = any();
          live.push_back(static_cast<std::int64_t>(cache.fork(Sequence{from})));
          model.rows[live.back()] = model.rows[from];
        } else if (kind == 2) {
          const std::int64_t gone = any();
          cache.release(Sequence{gone});
          model.rows.erase(gone);
          live.erase(std::find(live.begin(), live.end(), gone));
        } else if (kind <= 4) {
          const std::int64_t row = any();
          const auto count = *rc::gen::inRange<std::int64_t>(0, 200);
          try {
            cache.drop_last(Sequence{row}, count);
            model.drop(row, count);
          } catch (const InvalidArgument&) {  // more than there is, or than the window kept
            const Model::Row& own = model.rows[row];
            RC_ASSERT(count > own.length || (window > 0 && own.first_page > 0));
          }
        } else {
          std::set<std::int64_t> rows{any()};
          while (kind == 9 && rows.size() < std::min<std::size_t>(3, live.size())) {
            rows.insert(any());
          }
          const auto count = *rc::gen::inRange<std::int64_t>(0, 200);
          std::vector<Sequence> sequences;
          for (const std::int64_t row : rows) sequences.push_back(Sequence{row});
          const NewTokens made =
              new_tokens(cache.options(), token, count, static_cast<std::int64_t>(rows.size()));
          try {
            cache.append(sequences, made.k.view(), made.v.view());
            for (const std::int64_t row : rows) {
              model.append(row, token, count);
              token += count;
            }
          } catch (const InvalidArgument& full) {
            // All or nothing: the model does not move. 199 tokens need three pages at most.
            RC_ASSERT(std::string(full.what()).find("the cache is full") != std::string::npos);
            RC_ASSERT(model.pages() + static_cast<std::int64_t>(rows.size()) * 3 > 12);
          }
        }
        const std::string wrong = difference(cache, model);
        if (!wrong.empty()) RC_FAIL(wrong);
        RC_ASSERT(cache.usage().pages <= cache.usage().capacity_pages);
        RC_ASSERT(cache.usage().bytes <= cache.usage().capacity_bytes);
      }
      for (const std::int64_t row : live) cache.release(Sequence{row});
      RC_ASSERT(cache.usage().pages == 0);
    });
  }
}

// The control of the property above: a twin that writes into shared pages is told apart.
TEST(KeyValueCache, ATwinThatForgetsCopyOnWriteIsCaught) {
  for (const bool copies : {true, false}) {
    KeyValueCache cache(small());
    Model model(0, copies);
    const auto append = [&](Sequence s, std::int64_t first, std::int64_t count) {
      const NewTokens made = new_tokens(cache.options(), first, count);
      cache.append({&s, 1}, made.k.view(), made.v.view());
      model.append(static_cast<std::int64_t>(s), first, count);
    };
    const Sequence one = cache.add();
    append(one, 0, 200);
    const Sequence two = cache.fork(one);
    model.rows[static_cast<std::int64_t>(two)] = model.rows[static_cast<std::int64_t>(one)];
    EXPECT_EQ(difference(cache, model), "");
    append(one, 1000, 5);
    append(two, 2000, 5);
    EXPECT_EQ(difference(cache, model).empty(), copies);
    if (!copies) continue;
    EXPECT_EQ(cache.usage().pages, 3);  // the full page is shared still
    cache.drop_last(two, 60);           // into the page that both have
    model.drop(static_cast<std::int64_t>(two), 60);
    append(two, 3000, 1);
    EXPECT_EQ(difference(cache, model), "");
  }
}

TEST(KeyValueCache, GrowingNeverMovesWhatIsThere) {
  KeyValueCache cache(small());
  const Sequence s = cache.add();
  const NewTokens made = new_tokens(cache.options(), 0, 300);
  cache.append({&s, 1}, made.k.view(), made.v.view());
  const auto& tokens = cache.pages().tokens(s, "test");
  const std::byte* const first = cache.pages().key(tokens, 0, 0);
  cache.append({&s, 1}, made.k.view(), made.v.view());
  cache.append({&s, 1}, made.k.view(), made.v.view());
  EXPECT_EQ(cache.pages().key(tokens, 0, 0), first);
}

TEST(KeyValueCache, AllocatesAsNeededAndReportsIt) {
  KeyValueCache cache(small());
  const std::size_t page = 128 * 2 * 5 * 4;
  EXPECT_EQ(cache.usage().page_tokens, 128);
  EXPECT_EQ(cache.usage().capacity_pages, 12);
  EXPECT_EQ(cache.usage().capacity_bytes, 12 * page);
  EXPECT_EQ(cache.usage().bytes, 0u);
  const Sequence s = cache.add();
  const NewTokens made = new_tokens(cache.options(), 0, 129);
  cache.append({&s, 1}, made.k.view(), made.v.view());
  EXPECT_EQ(cache.usage().pages, 2);
  EXPECT_EQ(cache.usage().bytes, 2 * page);
  cache.release(s);
  EXPECT_EQ(cache.usage().pages, 0);
  const Sequence other = cache.add();
  EXPECT_NE(other, s);
  cache.append({&other, 1}, made.k.view(), made.v.view());
  EXPECT_EQ(cache.usage().bytes, 2 * page);  // the same memory again
  cache.append({&other, 1}, made.k.view(), made.v.view());
  EXPECT_EQ(cache.usage().pages, 3);
  EXPECT_EQ(cache.usage().bytes, 4 * page);  // it doubles, but never beyond the capacity
  for (int again = 0; again < 9; ++again) cache.append({&other, 1}, made.k.view(), made.v.view());
  EXPECT_EQ(cache.usage().pages, 12);
  EXPECT_EQ(cache.usage().bytes, 12 * page);
}

TEST(KeyValueCache, AWindowBoundsMemoryForEver) {
  KeyValueCacheOptions options = small(DType::float32, 200);
  options.capacity = 3 * 128;
  KeyValueCache cache(options);
  const Sequence s = cache.add();
  for (std::int64_t token = 0; token < 2000; ++token) {
    const NewTokens made = new_tokens(options, token, 1);
    cache.append({&s, 1}, made.k.view(), made.v.view());
    EXPECT_EQ(cache.length(s), token + 1);
    // The query of this token sees the 200 up to it.
    EXPECT_LE(cache.first_kept(s), std::max<std::int64_t>(0, token - 199));
    EXPECT_GT(cache.first_kept(s) + 128, token - 199);
  }
  cache.drop_last(s, 1);  // the last append can always be undone
  EXPECT_EQ(cache.length(s), 1999);
}

TEST(KeyValueCache, ADropGoesNoFurtherBackThanTheWindowKept) {
  KeyValueCacheOptions options = small(DType::float32, 100);
  KeyValueCache cache(options);
  const Sequence s = cache.add();
  const auto append = [&](std::int64_t count) {
    const NewTokens made = new_tokens(options, 0, count);
    cache.append({&s, 1}, made.k.view(), made.v.view());
  };
  append(300);
  EXPECT_EQ(cache.first_kept(s), 0);  // its own queries see all of it
  append(10);
  EXPECT_EQ(cache.first_kept(s), 128);  // token 300 sees from 201 on
  EXPECT_THROW(cache.drop_last(s, 84), InvalidArgument);
  EXPECT_EQ(cache.length(s), 310);
  cache.drop_last(s, 83);  // the next, at 227, sees from 128 on
  EXPECT_EQ(cache.length(s), 227);
  append(1);
  EXPECT_EQ(cache.first_kept(s), 128);
}

TEST(KeyValueCache, NarrowsWithOneRoundingAndTakesAnyStrides) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    for (const DType given : {DType::float32, dtype}) {
      for (const Layout layout :
           {Layout::contiguous, Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
        KeyValueCacheOptions options = small(dtype);
        options.head_width = 300;  // beyond the run that strided rows are gathered in
        KeyValueCache cache(options);
        double next = 0;
        const auto some = [&] { return std::sin(++next) * 3; };
        const Tensor k = filled(given, {2, 5, 300}, some);
        const Tensor v = filled(given, {2, 5, 2}, some);
        const LaidOut laid_k = laid_out(k, layout);
        const LaidOut laid_v = laid_out(v, layout);
        const Sequence s = cache.add();
        cache.append(s, laid_k.view, laid_v.view);
        const auto& tokens = cache.pages().tokens(s, "test");
        const Tensor right = converted(k.view(), dtype);
        for (std::int64_t g = 0; g < 2; ++g) {
          for (std::int64_t t = 0; t < 5; ++t) {
            for (std::int64_t d = 0; d < 300; ++d) {
              ASSERT_EQ(stored(cache.pages().key(tokens, g, t), dtype, d),
                        element_as_double(right.view(), (g * 5 + t) * 300 + d))
                  << name_of(given) << " to " << name_of(dtype);
            }
          }
        }
      }
    }
  }
}

// Token strides beyond 2^31 elements over a little data: an index cut to 32 bits reads elsewhere.
TEST(KeyValueCache, TakesStridesBeyondThirtyTwoBits) {
  constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 17;
  const std::size_t bytes = static_cast<std::size_t>(kStride) * 4 * 3;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "24 GiB of address space are not to be had";
  KeyValueCacheOptions options = small();
  options.key_heads = 1;
  const NewTokens made = new_tokens(options, 0, 2);
  float* const far = static_cast<float*>(memory);
  for (std::int64_t t = 0; t < 2; ++t) {
    std::copy_n(made.k.data<float>() + t * 3, 3, far + t * kStride);
    std::copy_n(made.v.data<float>() + t * 2, 2, far + t * kStride + 8);
  }
  KeyValueCache cache(options);
  Model model(0, true);
  const Sequence s = cache.add();
  cache.append(s, View(static_cast<const float*>(far), {2, 3}, {kStride, 1}),
               View(static_cast<const float*>(far) + 8, {2, 2}, {kStride, 1}));
  model.append(static_cast<std::int64_t>(s), 0, 2);
  EXPECT_EQ(difference(cache, model), "");
  munmap(memory, bytes);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(KeyValueCache, OptionsAreChecked) {
  const auto with = [](auto&& change) {
    return message_of([&] {
      KeyValueCacheOptions options = small();
      change(options);
      KeyValueCache cache(options);
    });
  };
  EXPECT_THAT(with([](auto& o) { o.key_heads = 0; }), HasSubstr("key_heads is 0"));
  EXPECT_THAT(with([](auto& o) { o.head_width = 0; }), HasSubstr("head_width is 0"));
  EXPECT_THAT(with([](auto& o) { o.value_width = -1; }), HasSubstr("value_width is -1"));
  EXPECT_THAT(with([](auto& o) { o.capacity = 0; }), HasSubstr("capacity is 0"));
  EXPECT_THAT(with([](auto& o) { o.window = -2; }), HasSubstr("window -2 is negative"));
  EXPECT_THAT(with([](auto& o) { o.dtype = DType::float64; }),
              AllOf(StartsWith("[KeyValueCache options]"), HasSubstr("float64")));
  EXPECT_THAT(with([](auto& o) { o.capacity = INT64_MAX; }), HasSubstr("63 bits"));
  EXPECT_THAT(with([](auto& o) { o.head_width = INT64_MAX; }), HasSubstr("63 bits"));
  EXPECT_EQ(with([](auto& o) { o.value_width = 0; }), "nothing was thrown");  // as head_width
}

TEST(KeyValueCache, AFullCacheSaysHowLongTheSequenceIsAndChangesNothing) {
  KeyValueCache cache(small());
  const Sequence one = cache.add();
  const Sequence two = cache.add();
  Model model(0, true);
  const NewTokens many = new_tokens(cache.options(), 0, 1300);
  cache.append({&one, 1}, many.k.view(), many.v.view());
  model.append(static_cast<std::int64_t>(one), 0, 1300);
  model.rows[static_cast<std::int64_t>(two)] = {};
  const NewTokens more = new_tokens(cache.options(), 5000, 200, 2);
  const Sequence both[] = {one, two};
  EXPECT_THAT(message_of([&] { cache.append(both, more.k.view(), more.v.view()); }),
              AllOf(StartsWith("[KeyValueCache append]"), HasSubstr("sequence 1 is 0 tokens long"),
                    HasSubstr("200 more"), HasSubstr("1 of 12 pages"), HasSubstr("release")));
  EXPECT_EQ(difference(cache, model), "");  // the first of the two did not grow either
}

// What an append says it needs is what it takes: new pages, copies of shared ones, less what the
// window gives back.
TEST(KeyValueCache, SaysWhatAnAppendTakes) {
  for (const std::int64_t window : {0, 100}) {
    const KeyValueCacheOptions options{
        .head_width = 4, .value_width = 4, .capacity = 100 * kPageTokens, .window = window};
    KeyValueCache cache(options);
    const auto takes = [&](const std::vector<Sequence>& sequences, std::int64_t count) {
      const std::vector<std::int64_t> counts(sequences.size(), count);
      const std::int64_t said = cache.pages_needed(sequences, counts);
      const std::int64_t before = cache.usage().pages;
      const auto batch = static_cast<std::int64_t>(sequences.size());
      const NewTokens tokens = new_tokens(options, 0, count, batch);
      cache.append(sequences, tokens.k.view(), tokens.v.view());
      EXPECT_EQ(cache.usage().pages - before, said);
      return said;
    };
    const Sequence a = cache.add();
    EXPECT_EQ(takes({a}, kPageTokens - 1), 1);
    EXPECT_EQ(takes({a}, 1), 0);
    EXPECT_EQ(takes({a}, 1), 1);
    const Sequence b = cache.fork(a), c = cache.fork(a);
    EXPECT_EQ(takes({b}, kPageTokens), 2);  // its copy and a new page
    EXPECT_EQ(takes({a, c}, 1), 1);         // the last one keeps the page
    EXPECT_EQ(takes({a, c}, 1), 0);
    takes({b}, 3 * kPageTokens);
    EXPECT_EQ(takes({b}, 0), 0);
    EXPECT_EQ(takes({a, b}, 2 * kPageTokens), window == 0 ? 4 : 1);
  }
  KeyValueCache cache({.head_width = 4, .capacity = 300});
  const Sequence a = cache.add(), twice[] = {a, a}, unknown{7};
  const std::int64_t counts[] = {-1, 1};
  const auto error = [&](std::span<const Sequence> sequences, std::span<const std::int64_t> of) {
    return message_of([&] { cache.pages_needed(sequences, of); });
  };
  EXPECT_THAT(error({&a, 1}, counts), HasSubstr("2 counts for 1 sequences"));
  EXPECT_THAT(error({&a, 1}, {counts, 1}), HasSubstr("count -1"));
  EXPECT_THAT(error(twice, std::vector<std::int64_t>{1, 1}), HasSubstr("listed twice"));
  EXPECT_THAT(error({&unknown, 1}, {counts + 1, 1}), HasSubstr("[KeyValueCache pages_needed]"));
  EXPECT_EQ(cache.pages_needed({}, {}), 0);
}

TEST(KeyValueCache, BadCallsAreRefusedByName) {
  KeyValueCache cache(small(DType::bfloat16));
  const Sequence s = cache.add();
  const NewTokens good = new_tokens(cache.options(), 0, 4);
  const View k = good.k.view();
  const View v = good.v.view();
  const Sequence twice[] = {s, s};
  const auto append = [&](const View& keys, const View& values) {
    return message_of([&] { cache.append({&s, 1}, keys, values); });
  };
  EXPECT_THAT(append({}, v), HasSubstr("k is missing"));
  EXPECT_THAT(append(k, {}), HasSubstr("v is missing"));
  EXPECT_THAT(append(v, v), AllOf(HasSubstr("k (1,2,4,2)"), HasSubstr("(1,2,4,3)")));
  EXPECT_THAT(append(k, k), AllOf(HasSubstr("v (1,2,4,3)"), HasSubstr("(1,2,4,2)")));
  EXPECT_THAT(append(k, new_tokens(cache.options(), 0, 3).v.view()), HasSubstr("v (1,2,3,2)"));
  for (const DType dtype : {DType::float64, DType::float16, DType::int32}) {
    const NewTokens other = new_tokens(cache.options(), 0, 4, 1, dtype);
    EXPECT_THAT(append(other.k.view(), v),
                AllOf(HasSubstr(std::string(name_of(dtype))), HasSubstr("float32 or bfloat16")));
  }
  EXPECT_THAT(append(View(static_cast<const float*>(nullptr), {1, 2, 4, 3}), v),
              HasSubstr("pointer is null"));
  EXPECT_THAT(message_of([&] { cache.append(s, k, v); }), HasSubstr("must have rank 3"));
  const NewTokens pair = new_tokens(cache.options(), 0, 4, 2);
  EXPECT_THAT(message_of([&] { cache.append(twice, pair.k.view(), pair.v.view()); }),
              HasSubstr("listed twice"));
  EXPECT_THAT(message_of([&] { cache.drop_last(s, 1); }), HasSubstr("has 0 tokens"));
  EXPECT_THAT(message_of([&] { cache.drop_last(s, -1); }), HasSubstr("-1"));

  cache.release(s);
  const Sequence never{99};
  for (const Sequence bad : {s, never}) {
    const std::string why = bad == never ? "is not of this cache" : "was released";
    EXPECT_THAT(message_of([&] { cache.fork(bad); }),
                AllOf(StartsWith("[KeyValueCache fork]"), HasSubstr(why)));
    EXPECT_THAT(message_of([&] { cache.release(bad); }), HasSubstr(why));
    EXPECT_THAT(message_of([&] { cache.length(bad); }), HasSubstr(why));
    EXPECT_THAT(message_of([&] { cache.first_kept(bad); }), HasSubstr(why));
    EXPECT_THAT(message_of([&] { cache.drop_last(bad, 0); }), HasSubstr(why));
    EXPECT_THAT(message_of([&] { cache.append({&bad, 1}, k, v); }), HasSubstr(why));
  }
}

TEST(KeyValueCache, MemoryThatCannotBeHadIsAnErrorNamingTheSize) {
  KeyValueCacheOptions options = small();
  options.head_width = std::int64_t{1} << 46;
  options.capacity = 128;
  KeyValueCache cache(options);
  const Sequence s = cache.add();
  const float zero = 0;
  const View k(&zero, {1, 2, 1, options.head_width}, {0, 0, 0, 0});
  const View v(&zero, {1, 2, 1, 2}, {0, 0, 0, 0});
  try {
    cache.append({&s, 1}, k, v);
    FAIL() << "128 PiB were had";
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr(std::to_string(128 * 2 * 4 * (options.head_width + 2)) + " bytes"));
  }
  EXPECT_EQ(cache.length(s), 0);
  EXPECT_EQ(cache.usage().bytes, 0u);
}

TEST(KeyValueCache, RankTwoServesOneKeyHead) {
  KeyValueCacheOptions options = small();
  options.key_heads = 1;
  KeyValueCache cache(options);
  const Sequence s = cache.add();
  const NewTokens made = new_tokens(options, 7, 4);
  cache.append(s, View(made.k.data<float>(), {4, 3}), View(made.v.data<float>(), {4, 2}));
  Model model(0, true);
  model.append(static_cast<std::int64_t>(s), 7, 4);
  EXPECT_EQ(difference(cache, model), "");
}

}  // namespace
}  // namespace volvelle::testing
