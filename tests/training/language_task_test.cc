// The generated language: what may follow what, whose answers are told where, that its best loss is
// the one that counting finds, and that batches are functions of seed and index.
#include "volvelle/training/language_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const LanguageOptions kTask{.tokens = 200, .batch = 16, .seed = 7, .grammar = 3};
constexpr std::int64_t kNone = -100;

TEST(LanguageTask, EveryWordFollowsFourOthersAndIsFollowedByFour) {
  const std::vector<std::int64_t> successors = language_successors(kTask);
  ASSERT_EQ(successors.size(), 64u);
  std::map<std::int64_t, int> follows;
  for (std::size_t word = 0; word < 16; ++word) {
    const std::set<std::int64_t> four(successors.begin() + word * 4,
                                      successors.begin() + word * 4 + 4);
    EXPECT_EQ(four.size(), 4u);
    for (const std::int64_t next : four) ++follows[next];
  }
  ASSERT_EQ(follows.size(), 16u);
  for (const auto& [word, count] : follows) EXPECT_EQ(count, 4) << word;
  LanguageOptions other = kTask;
  other.grammar = 4;
  EXPECT_NE(language_successors(other), successors);
  other = kTask;
  other.seed = 8;
  EXPECT_EQ(language_successors(other), successors) << "the seed is that of the sequences";
}

/// Reads a sequence as its rules say, without the writer's knowledge.
struct Reader {
  std::vector<std::int64_t> successors = language_successors(kTask);
  std::map<std::int64_t, std::int64_t> value_of = {}, told_at = {};
  std::int64_t before = -1, last = -1, asked = -1;

  void read(std::int64_t id, std::int64_t place) {
    const bool word = id < 16;
    before = word ? last : -1;
    last = word ? id : -1;
    if (id >= 56) {
      told_at[asked] = place;
      asked = -1;
    } else if (id >= 48) {
      asked = id - 48;
    } else if (!word) {
      value_of[(id - 16) / 4] = (id - 16) % 4;
      told_at[(id - 16) / 4] = place;
    }
  }
  std::vector<std::int64_t> allowed_words() const {
    if (last < 0) return {};
    const auto first = successors.begin() + last * 4;
    if (before < 0) return {first, first + 4};
    return {first + before % 2 * 2, first + before % 2 * 2 + 2};
  }
};

TEST(LanguageTask, TokensFollowTheRulesAndAnswersTheLastStatement) {
  const LanguageBatch batch = language_batch(kTask, 2);
  int answers = 0, far = 0, changed = 0;
  for (std::int64_t row = 0; row < kTask.batch; ++row) {
    Reader reader;
    std::map<std::int64_t, std::set<std::int64_t>> ever;
    for (std::int64_t i = 0; i < kTask.tokens; ++i) {
      const auto at = static_cast<std::size_t>(row * kTask.tokens + i);
      const std::int64_t id = batch.ids.data<std::int64_t>()[at];
      const std::int64_t label = batch.labels.data<std::int64_t>()[at];
      ASSERT_LT(id, language_vocabulary(kTask));
      reader.read(id, i);
      if (id >= 16 && id < 48) ever[(id - 16) / 4].insert((id - 16) % 4);
      if (i + 1 < kTask.tokens && label != kNone) {
        EXPECT_EQ(batch.ids.data<std::int64_t>()[at + 1], label);
      }
      switch (batch.kinds[at]) {
        case LanguageKind::word: {
          ASSERT_LT(label, 16);
          ASSERT_LT(reader.asked, 0) << "a question is answered at once";
          const auto allowed = reader.allowed_words();
          if (!allowed.empty()) {
            EXPECT_THAT(allowed, ::testing::Contains(label));
          }
          const double choices = allowed.empty() ? 16 : static_cast<double>(allowed.size());
          EXPECT_DOUBLE_EQ(batch.best[at], std::log(choices));
          break;
        }
        case LanguageKind::answer:
          ++answers;
          ASSERT_GE(reader.asked, 0);
          ASSERT_TRUE(reader.value_of.contains(reader.asked)) << "only what was stated is asked";
          EXPECT_EQ(label, language_first_answer(kTask) + reader.value_of[reader.asked]);
          EXPECT_EQ(batch.distances[at], i - reader.told_at[reader.asked]);
          EXPECT_EQ(batch.best[at], 0);
          if (batch.distances[at] >= 64) ++far;
          if (ever[reader.asked].size() > 1) ++changed;
          break;
        case LanguageKind::statement:
        case LanguageKind::question:
          EXPECT_EQ(label, kNone);
          EXPECT_EQ(batch.best[at], 0);
          EXPECT_GE(reader.last, 0) << "a phrase has a word at least";
      }
    }
  }
  EXPECT_GT(answers, 150);
  EXPECT_GT(far, answers / 20) << "some are told far away";
  EXPECT_GT(changed, answers / 4) << "names have had other values before";
}

bool same(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

TEST(LanguageTask, ABatchIsAFunctionOfSeedsAndIndex) {
  const LanguageBatch batch = language_batch(kTask, 5);
  language_batch(kTask, 6);
  EXPECT_TRUE(same(batch.ids, language_batch(kTask, 5).ids));
  EXPECT_FALSE(same(batch.ids, language_batch(kTask, 6).ids));
  LanguageOptions other = kTask;
  other.seed = 8;
  EXPECT_FALSE(same(batch.ids, language_batch(other, 5).ids));
  other = kTask;
  other.grammar = 4;
  EXPECT_FALSE(same(batch.ids, language_batch(other, 5).ids));
}

TEST(LanguageTask, LongerSequencesBeginWithShorterOnes) {
  LanguageOptions longer = kTask;
  longer.tokens = 333;
  const Tensor a = language_batch(kTask, 1).ids, b = language_batch(longer, 1).ids;
  for (std::int64_t row = 0; row < kTask.batch; ++row) {
    for (std::int64_t i = 0; i < 200; ++i) {
      ASSERT_EQ(a.data<std::int64_t>()[row * 200 + i], b.data<std::int64_t>()[row * 333 + i]);
    }
  }
}

TEST(LanguageTask, BadOptionsAreRefused) {
  const auto refused = [](auto change, const char* message) {
    LanguageOptions options = kTask;
    change(options);
    EXPECT_THAT([&] { language_batch(options, 0); },
                ThrowsMessage<InvalidArgument>(HasSubstr(message)));
  };
  refused([](LanguageOptions& o) { o.words = 4; }, "multiple of 4");
  refused([](LanguageOptions& o) { o.words = 18; }, "multiple of 4");
  refused([](LanguageOptions& o) { o.values = 1; }, "nothing to tell apart");
  refused([](LanguageOptions& o) { o.pause = 1; }, "pause");
  refused([](LanguageOptions& o) { o.names = 0; }, "names");
  refused([](LanguageOptions& o) { o.tokens = 0; }, "tokens");
  EXPECT_THROW(language_batch(kTask, -1), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
