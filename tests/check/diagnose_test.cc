// Each known fault is made by loops of the test's own, and must be named; and nothing else.
#include "volvelle/check/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "attention/oracle.h"
#include "attention/resolved.h"
#include "support/naive_attention.h"
#include "volvelle/attention/attend.h"
#include "volvelle/base/error.h"
#include "volvelle/check/expect.h"

namespace volvelle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

AttentionResult answer(const AttentionProblem& problem) {
  const ResolvedAttention resolved = resolve(problem);
  AttentionResult result;
  const Shape rows{resolved.batch, resolved.heads, resolved.queries};
  Shape shape = rows;
  shape.push_back(resolved.value_width);
  result.output = Tensor(resolved.dtype, shape);
  result.lse = Tensor(resolved.dtype == DType::float64 ? DType::float64 : DType::float32, rows);
  AttentionOutputs outputs;
  outputs.output = result.output.mutable_view();
  outputs.lse = result.lse.mutable_view();
  attend_oracle(resolved, resolve_outputs(resolved, problem, outputs));
  return result;
}

ExpectReport expected(const AttentionProblem& problem, const std::vector<float>& file) {
  const AttentionResult ours = answer(problem);
  Expected theirs;
  theirs.output = View(file.data(), ours.output.shape());
  return check_expected(problem, ours, theirs);
}

std::vector<std::string> named(const ExpectReport& report) {
  std::vector<std::string> names;
  for (const Diagnosis& one : report.diagnosis) names.push_back(one.fault);
  return names;
}

std::vector<std::string> faults(const AttentionProblem& problem, const std::vector<float>& file) {
  const ExpectReport report = expected(problem, file);
  EXPECT_FALSE(report.matches);
  return named(report);
}

// B 2, H 4, G 2, T 7, S 9, D 5: no two lengths equal, so that no two faults are.
NaiveAttention plain() { return NaiveAttention::random(2, 4, 2, 7, 9, 5, 11); }
constexpr std::int64_t kOffset = 2;  // S - T

bool causal(std::int64_t i, std::int64_t j) { return j <= i + kOffset; }

TEST(Diagnose, TheRightAnswerMatchesAndIsNotDiagnosed) {
  const NaiveAttention right = plain();
  const ExpectReport report = expected(right.problem(), right.output());
  EXPECT_TRUE(report.matches);
  EXPECT_THAT(report.diagnosis, IsEmpty());
}

TEST(Diagnose, AnUnknownFaultIsNotNamed) {
  const NaiveAttention right = plain();
  std::vector<float> file = right.output();
  for (float& value : file) value *= 1.01f;
  EXPECT_THAT(faults(right.problem(), file), IsEmpty());
}

TEST(Diagnose, OneForeignElementIsNotNamed) {
  const NaiveAttention right = plain();
  std::vector<float> file = right.output();
  file[17] += 0.01f;
  EXPECT_THAT(faults(right.problem(), file), IsEmpty());
}

TEST(Diagnose, ScaleAbsent) {
  NaiveAttention wrong = plain();
  wrong.scale = 1;
  EXPECT_THAT(faults(wrong.problem(), wrong.output()), ElementsAre("scale_absent"));
}

TEST(Diagnose, ScaleOverWidth) {
  NaiveAttention wrong = plain();
  wrong.scale = 1.0 / 5;
  EXPECT_THAT(faults(wrong.problem(), wrong.output()), ElementsAre("scale_over_width"));
}

TEST(Diagnose, ScaleFromModelWidth) {
  NaiveAttention wrong = plain();
  wrong.scale = 1 / std::sqrt(20.0);
  EXPECT_THAT(faults(wrong.problem(), wrong.output()), ElementsAre("scale_from_model_width"));
}

TEST(Diagnose, ScaleFromEitherTokenCount) {
  NaiveAttention wrong = plain();
  wrong.scale = 1 / std::sqrt(9.0);
  EXPECT_THAT(faults(wrong.problem(), wrong.output()), ElementsAre("scale_from_tokens"));
  wrong.scale = 1 / std::sqrt(7.0);
  EXPECT_THAT(faults(wrong.problem(), wrong.output()), ElementsAre("scale_from_tokens"));
}

TEST(Diagnose, ScaleIgnored) {
  const NaiveAttention wrong = plain();
  AttentionProblem problem = wrong.problem();
  problem.scale = 0.9;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("scale_ignored"));
}

TEST(Diagnose, TrulyEqualFaultsAreBothNamed) {
  NaiveAttention wrong = NaiveAttention::random(1, 2, 2, 8, 8, 4, 5);  // H*D = T = S = 8
  wrong.scale = 1 / std::sqrt(8.0);
  EXPECT_THAT(faults(wrong.problem(), wrong.output()),
              UnorderedElementsAre("scale_from_model_width", "scale_from_tokens"));
}

TEST(Diagnose, SoftmaxOverColumns) {
  NaiveAttention wrong = plain();
  wrong.over_columns = true;
  EXPECT_THAT(faults(wrong.problem(), wrong.output()), ElementsAre("softmax_over_columns"));
}

TEST(Diagnose, CausalMissing) {
  const NaiveAttention wrong = plain();
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("causal_missing"));
}

TEST(Diagnose, CausalAddedWithItsCorner) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return causal(i, j); };
  ExpectReport report = expected(wrong.problem(), wrong.output());
  ASSERT_THAT(named(report), ElementsAre("causal_added"));
  EXPECT_THAT(report.diagnosis[0].sentence, HasSubstr("bottom-right"));
  wrong.seen = [](auto, auto, auto i, auto j) { return j <= i; };
  report = expected(wrong.problem(), wrong.output());
  ASSERT_THAT(named(report), ElementsAre("causal_added"));
  EXPECT_THAT(report.diagnosis[0].sentence, HasSubstr("top-left"));
}

TEST(Diagnose, StrictDiagonal) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return j < i + kOffset; };
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("strict_diagonal"));
}

TEST(Diagnose, OtherAlignmentBothWays) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return j <= i; };
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("other_alignment"));
  wrong.seen = [](auto, auto, auto i, auto j) { return causal(i, j); };
  problem.alignment = Alignment::top_left;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("other_alignment"));
}

TEST(Diagnose, QueryOffsetIgnored) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return causal(i, j); };
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  const std::int64_t offsets[] = {4, 0};
  problem.query_offset = View(offsets, {2});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("query_offset_ignored"));
}

TEST(Diagnose, WindowOneMoreAndOneLessSayTheirNumber) {
  for (const int off : {1, -1}) {
    NaiveAttention wrong = plain();
    wrong.seen = [off](auto, auto, auto i, auto j) {
      return causal(i, j) && j > i + kOffset - (3 + off);
    };
    AttentionProblem problem = wrong.problem();
    problem.causal = true;
    problem.window = 3;
    const ExpectReport report = expected(problem, wrong.output());
    ASSERT_THAT(named(report), ElementsAre(off > 0 ? "window_one_more" : "window_one_less"));
    EXPECT_EQ(report.diagnosis[0].sentence,
              "your result equals attention with window " + std::to_string(3 + off));
  }
}

TEST(Diagnose, RightWindowOneMoreAndOneLess) {
  for (const int off : {1, -1}) {
    NaiveAttention wrong = plain();
    wrong.seen = [off](auto, auto, auto i, auto j) { return j < i + kOffset + (3 + off); };
    AttentionProblem problem = wrong.problem();
    problem.window_right = 3;
    EXPECT_THAT(faults(problem, wrong.output()),
                ElementsAre(off > 0 ? "window_one_more" : "window_one_less"));
  }
}

TEST(Diagnose, WindowMissing) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return causal(i, j); };
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  problem.window = 3;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("window_missing"));
}

TEST(Diagnose, PrefixIgnored) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return causal(i, j); };
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  problem.prefix = 6;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("prefix_ignored"));
}

TEST(Diagnose, ChunkIgnored) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return causal(i, j); };
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  problem.chunk = 4;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("chunk_ignored"));
}

TEST(Diagnose, KeyLengthsIgnored) {
  const NaiveAttention wrong = plain();
  AttentionProblem problem = wrong.problem();
  const std::int64_t lengths[] = {4, 9};
  problem.key_lengths = View(lengths, {2});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("key_lengths_ignored"));
}

TEST(Diagnose, PaddingOnTheOtherSide) {
  static const std::int64_t lengths[] = {4, 6};
  for (const Padding ours : {Padding::left, Padding::right}) {
    NaiveAttention wrong = plain();
    wrong.seen = [ours](auto b, auto, auto, auto j) {
      return ours == Padding::right ? j >= 9 - lengths[b] : j < lengths[b];
    };
    AttentionProblem problem = wrong.problem();
    problem.key_lengths = View(lengths, {2});
    problem.padding = ours;
    EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("padding_on_other_side"));
  }
}

TEST(Diagnose, SegmentsIgnored) {
  const NaiveAttention wrong = plain();
  AttentionProblem problem = wrong.problem();
  std::vector<std::int32_t> queries(2 * 7, 0), keys(2 * 9, 0);
  for (std::size_t i = 4; i < 7; ++i) queries[i] = 1;
  for (std::size_t j = 5; j < 9; ++j) keys[j] = 1;
  problem.query_segments = View(queries.data(), {2, 7});
  problem.key_segments = View(keys.data(), {2, 9});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("segments_ignored"));
}

// Segments without a batch axis serve every row; a row cut out for the oracle must keep them whole.
TEST(Diagnose, ArraysThatServeEveryBatchRow) {
  std::vector<std::int32_t> queries(7, 0), keys(9, 0);
  for (std::size_t i = 4; i < 7; ++i) queries[i] = 1;
  for (std::size_t j = 5; j < 9; ++j) keys[j] = 1;
  NaiveAttention wrong = plain();
  AttentionProblem problem = wrong.problem();
  problem.query_segments = View(queries.data(), {7});
  problem.key_segments = View(keys.data(), {9});
  wrong.scale = 1;
  wrong.seen = [&](auto, auto, auto i, auto j) {
    return queries[static_cast<std::size_t>(i)] == keys[static_cast<std::size_t>(j)];
  };
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("scale_absent"));
}

// Keeps about two keys in three, in each row at least the first.
bool kept(std::int64_t i, std::int64_t j) { return j == 0 || (i * 5 + j * 3) % 3 != 1; }
std::vector<std::uint8_t> keep_mask() {
  std::vector<std::uint8_t> mask;
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 9; ++j) mask.push_back(kept(i, j) ? 1 : 0);
  }
  return mask;
}

TEST(Diagnose, KeepIgnored) {
  const NaiveAttention wrong = plain();
  const std::vector<std::uint8_t> mask = keep_mask();
  AttentionProblem problem = wrong.problem();
  problem.keep = View(mask.data(), {7, 9});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("keep_ignored"));
}

TEST(Diagnose, MaskInverted) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return !kept(i, j); };
  const std::vector<std::uint8_t> mask = keep_mask();
  AttentionProblem problem = wrong.problem();
  problem.keep = View(mask.data(), {7, 9});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("mask_inverted"));
}

TEST(Diagnose, CausalMaskInverted) {
  NaiveAttention wrong = plain();  // rows 0 to 6 stand at 2 to 8: the last sees nothing
  wrong.seen = [](auto, auto, auto i, auto j) { return !causal(i, j); };
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("mask_inverted"));
  // The same from a program that divides 0 by 0 there.
  std::vector<float> file = wrong.output();
  for (std::size_t line = 0; line < 8; ++line) {
    for (std::size_t e = 0; e < 5; ++e) file[(line * 7 + 6) * 5 + e] = std::nanf("");
  }
  EXPECT_THAT(faults(problem, file), ElementsAre("mask_inverted"));
}

TEST(Diagnose, EmptyRowsThatAreNaN) {
  NaiveAttention right = plain();
  right.seen = [](auto, auto, auto i, auto j) { return i != 3 && kept(i, j); };
  std::vector<std::uint8_t> mask = keep_mask();
  for (std::size_t j = 0; j < 9; ++j) mask[3 * 9 + j] = 0;
  AttentionProblem problem = right.problem();
  problem.keep = View(mask.data(), {7, 9});
  std::vector<float> file = right.output();
  EXPECT_TRUE(expected(problem, file).matches);
  for (std::size_t line = 0; line < 8; ++line) {
    for (std::size_t e = 0; e < 5; ++e) file[(line * 7 + 3) * 5 + e] = std::nanf("");
  }
  EXPECT_THAT(faults(problem, file), ElementsAre("empty_rows_nan"));
}

TEST(Diagnose, EmptyRowsThatAreAveraged) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return i == 3 || kept(i, j); };
  wrong.bias = [](auto, auto, auto i, auto) { return i == 3 ? -1e30 : 0.0; };
  std::vector<std::uint8_t> mask = keep_mask();
  for (std::size_t j = 0; j < 9; ++j) mask[3 * 9 + j] = 0;
  AttentionProblem problem = wrong.problem();
  problem.keep = View(mask.data(), {7, 9});
  std::vector<float> file = wrong.output();
  for (std::size_t line = 0; line < 8;
       ++line) {  // the naive exp underflows there: the mean by hand
    for (std::size_t e = 0; e < 5; ++e) {
      double mean = 0;
      for (std::size_t j = 0; j < 9; ++j) {
        const std::size_t group = line / 4 * 2 + line % 4 / 2;
        mean += static_cast<double>(wrong.v[(group * 9 + j) * 5 + e]) / 9;
      }
      file[(line * 7 + 3) * 5 + e] = static_cast<float>(mean);
    }
  }
  EXPECT_THAT(faults(problem, file), ElementsAre("empty_rows_averaged"));
}

TEST(Diagnose, MaskAddedToTheScores) {
  NaiveAttention wrong = plain();
  wrong.bias = [](auto, auto, auto i, auto j) { return kept(i, j) ? 1.0 : 0.0; };
  const std::vector<std::uint8_t> mask = keep_mask();
  AttentionProblem problem = wrong.problem();
  problem.keep = View(mask.data(), {7, 9});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("keep_added_to_scores"));
}

TEST(Diagnose, MaskAddedToTheScoresBesideABias) {
  NaiveAttention wrong = plain();
  const std::vector<float> bias = random_numbers(9, 3);
  wrong.bias = [&](auto, auto, auto i, auto j) {
    return static_cast<double>(bias[static_cast<std::size_t>(j)]) + (kept(i, j) ? 1.0 : 0.0);
  };
  const std::vector<std::uint8_t> mask = keep_mask();
  AttentionProblem problem = wrong.problem();
  problem.keep = View(mask.data(), {7, 9});
  problem.bias = View(bias.data(), {1, 9});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("keep_added_to_scores"));
}

TEST(Diagnose, MaskAfterSoftmax) {
  NaiveAttention wrong = plain();
  wrong.seen = [](auto, auto, auto i, auto j) { return causal(i, j); };
  wrong.mask_after = true;
  AttentionProblem problem = wrong.problem();
  problem.causal = true;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("mask_after_softmax"));
}

TEST(Diagnose, KeyHeadsTiled) {
  NaiveAttention wrong = plain();
  wrong.key_head = [](std::int64_t h) { return h % 2; };
  EXPECT_THAT(faults(wrong.problem(), wrong.output()), ElementsAre("key_heads_tiled"));
}

TEST(Diagnose, CapDropped) {
  const NaiveAttention wrong = plain();
  AttentionProblem problem = wrong.problem();
  problem.softcap = 1.5;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("cap_dropped"));
}

TEST(Diagnose, BiasBeforeScaling) {
  NaiveAttention wrong = plain();
  const std::vector<float> bias = random_numbers(7 * 9, 3);
  wrong.bias = [&](auto, auto, auto i, auto j) {
    return static_cast<double>(bias[static_cast<std::size_t>(i * 9 + j)]);
  };
  wrong.scale_after_bias = true;
  AttentionProblem problem = wrong.problem();
  problem.bias = View(bias.data(), {7, 9});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("bias_before_scaling"));
}

TEST(Diagnose, EveryKindOfBiasIgnored) {
  const NaiveAttention wrong = plain();
  const std::vector<float> numbers = random_numbers(7 * 9 * 4, 3);
  AttentionProblem problem = wrong.problem();
  problem.bias = View(numbers.data(), {7, 9});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("bias_ignored"));
  problem = wrong.problem();
  problem.slopes = View(numbers.data(), {4});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("bias_ignored"));
  problem = wrong.problem();
  problem.bias_table = View(numbers.data(), {4, 5});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("bias_ignored"));
  problem = wrong.problem();
  problem.bucket_table = View(numbers.data(), {4, 8});
  problem.buckets = Buckets::two_way;
  problem.max_distance = 16;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("bias_ignored"));
}

TEST(Diagnose, SlopeSign) {
  NaiveAttention wrong = plain();
  static const float slopes[] = {0.5f, 0.25f, 0.125f, 0.0625f};
  wrong.bias = [](auto, auto h, auto i, auto j) {
    return static_cast<double>(slopes[h]) * std::abs(static_cast<double>(i + kOffset - j));
  };
  AttentionProblem problem = wrong.problem();
  problem.slopes = View(slopes, {4});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("slope_sign"));
}

TEST(Diagnose, BucketDirection) {
  NaiveAttention wrong = plain();
  const std::vector<float> table = random_numbers(4 * 8, 9);
  // One-way, 8 buckets: distances 0..3 have their own; max_distance 16 puts 4 and 5 into bucket 4,
  // 6 and 7 into 5, 8 into 6; later keys into 0.
  wrong.bias = [&](auto, auto h, auto i, auto j) {
    const std::int64_t distance = std::max<std::int64_t>(i + kOffset - j, 0);
    static const int bucket[] = {0, 1, 2, 3, 4, 4, 5, 5, 6};
    return static_cast<double>(table[static_cast<std::size_t>(h * 8 + bucket[distance])]);
  };
  AttentionProblem problem = wrong.problem();
  problem.bucket_table = View(table.data(), {4, 8});
  problem.buckets = Buckets::two_way;
  problem.max_distance = 16;
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("bucket_direction"));
}

TEST(Diagnose, PositionsIgnored) {
  NaiveAttention wrong = plain();
  static const float slopes[] = {0.5f, 0.25f, 0.125f, 0.0625f};
  wrong.bias = [](auto, auto h, auto i, auto j) {
    return -static_cast<double>(slopes[h]) * std::abs(static_cast<double>(i + kOffset - j));
  };
  AttentionProblem problem = wrong.problem();
  problem.slopes = View(slopes, {4});
  std::vector<std::int64_t> positions(2 * 9);
  for (std::size_t j = 0; j < positions.size(); ++j) {
    positions[j] = static_cast<std::int64_t>(j % 9) * 2;
  }
  problem.key_positions = View(positions.data(), {2, 9});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("positions_ignored"));
}

TEST(Diagnose, SinkDropped) {
  const NaiveAttention wrong = plain();
  AttentionProblem problem = wrong.problem();
  const float sinks[] = {0.5f, -1.0f, 2.0f, 0.0f};
  problem.sinks = View(sinks, {4});
  EXPECT_THAT(faults(problem, wrong.output()), ElementsAre("sink_dropped"));
}

TEST(Diagnose, OutputInRowsFirstOrderWhereShapesHideIt) {
  const NaiveAttention right = NaiveAttention::random(2, 4, 4, 4, 6, 5, 8);  // T = H
  const std::vector<float> output = right.output();
  std::vector<float> file(output.size());
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t h = 0; h < 4; ++h) {
      for (std::size_t t = 0; t < 4; ++t) {
        for (std::size_t e = 0; e < 5; ++e) {
          file[((b * 4 + t) * 4 + h) * 5 + e] = output[((b * 4 + h) * 4 + t) * 5 + e];
        }
      }
    }
  }
  // With T = H, transposed and reshaped are the same numbers.
  EXPECT_THAT(faults(right.problem(), file), ElementsAre("layout", "layout"));
}

TEST(Diagnose, OutputReshapedInsteadOfTransposed) {
  const NaiveAttention right = plain();
  const std::vector<float> output = right.output();
  std::vector<float> file;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t t = 0; t < 7; ++t) {
      for (std::size_t h = 0; h < 4; ++h) {
        for (std::size_t e = 0; e < 5; ++e) {
          file.push_back(output[((b * 4 + h) * 7 + t) * 5 + e]);
        }
      }
    }
  }
  const ExpectReport report = expected(right.problem(), file);
  ASSERT_THAT(named(report), ElementsAre("layout"));
  EXPECT_THAT(report.diagnosis[0].sentence, HasSubstr("reshaped"));
}

// Swaps the two middle axes of (B,X,Y,W).
std::vector<float> swapped(const std::vector<float>& from, std::size_t b, std::size_t x,
                           std::size_t y, std::size_t w) {
  std::vector<float> to(from.size());
  for (std::size_t i = 0; i < b; ++i) {
    for (std::size_t j = 0; j < x; ++j) {
      for (std::size_t k = 0; k < y; ++k) {
        for (std::size_t l = 0; l < w; ++l) {
          to[((i * y + k) * x + j) * w + l] = from[((i * x + j) * y + k) * w + l];
        }
      }
    }
  }
  return to;
}

TEST(Diagnose, HeadsTakenForTokens) {
  const NaiveAttention right = NaiveAttention::random(2, 4, 4, 6, 6, 5, 8);
  NaiveAttention across = NaiveAttention::random(2, 6, 6, 4, 4, 5, 1);
  across.q = swapped(right.q, 2, 4, 6, 5);
  across.k = swapped(right.k, 2, 4, 6, 5);
  across.v = swapped(right.v, 2, 4, 6, 5);
  EXPECT_THAT(faults(right.problem(), swapped(across.output(), 2, 6, 4, 5)),
              ElementsAre("layout_swapped"));
}

TEST(Diagnose, MemoryReadRowsFirst) {
  const NaiveAttention right = plain();
  NaiveAttention read = right;
  read.q = swapped(right.q, 2, 7, 4, 5);
  read.k = swapped(right.k, 2, 9, 2, 5);
  read.v = swapped(right.v, 2, 9, 2, 5);
  EXPECT_THAT(faults(right.problem(), swapped(read.output(), 2, 4, 7, 5)),
              ElementsAre("layout_bytes"));
}

TEST(Diagnose, AFastPathAtFaultIsOwnedUpTo) {
  const NaiveAttention right = plain();
  AttentionResult ours = answer(right.problem());
  ours.output.data<float>()[40] += 0.1f;
  const std::vector<float> file = right.output();
  Expected theirs;
  theirs.output = View(file.data(), ours.output.shape());
  const ExpectReport report = check_expected(right.problem(), ours, theirs);
  ASSERT_THAT(named(report), ElementsAre("none"));
  EXPECT_THAT(report.diagnosis[0].sentence, HasSubstr("report"));
}

TEST(Diagnose, ColumnsBeyondTheLimitAreSaidNotTried) {
  NaiveAttention wrong = plain();
  wrong.over_columns = true;
  const std::vector<float> file = wrong.output();
  const AttentionResult ours = answer(wrong.problem());
  const DiagnoseReport report =
      diagnose(wrong.problem(), ours.output.view(), View(file.data(), ours.output.shape()),
               {.tolerance = {1e-5, 1e-5}, .column_operations = 10});
  EXPECT_THAT(report.found, IsEmpty());
  ASSERT_EQ(report.not_tried.size(), 1u);
  EXPECT_THAT(report.not_tried[0], HasSubstr("softmax_over_columns"));
}

// Large enough that rows are sampled, and whole columns come after all else.
TEST(Diagnose, SampledRowsNameTheFaultOfALargeProblem) {
  const NaiveAttention large = NaiveAttention::random(1, 4, 4, 1024, 1024, 32, 6);
  AttentionProblem problem = large.problem();
  problem.causal = true;
  problem.window = 200;
  const AttentionResult theirs = attend(problem);
  problem.window = 199;
  const AttentionResult ours = attend(problem);
  Expected expected;
  expected.output = theirs.output.view();
  const ExpectReport report = check_expected(problem, ours, expected);
  ASSERT_THAT(named(report), ElementsAre("window_one_more"));
  EXPECT_EQ(report.diagnosis[0].sentence, "your result equals attention with window 200");
}

TEST(Diagnose, SampledRowsStillFindSoftmaxOverColumns) {
  NaiveAttention wrong = NaiveAttention::random(1, 2, 2, 300, 300, 16, 6);
  wrong.over_columns = true;
  EXPECT_THAT(faults(wrong.problem(), wrong.output()), ElementsAre("softmax_over_columns"));
}

TEST(Diagnose, ShapesThatDoNotFitTheProblemThrow) {
  const NaiveAttention right = plain();
  const AttentionResult ours = answer(right.problem());
  EXPECT_THROW(diagnose(right.problem(), ours.output.view(), ours.lse.view(), {}), InvalidArgument);
}

TEST(Diagnose, DropoutIgnoredAndWhatCannotBeTriedBesideIt) {
  const NaiveAttention wrong = plain();
  AttentionProblem problem = wrong.problem();
  problem.dropout = 0.3;
  problem.dropout_seed = 2;
  const ExpectReport report = expected(problem, wrong.output());
  EXPECT_THAT(named(report), ElementsAre("dropout_ignored"));
  ASSERT_EQ(report.not_tried.size(), 1u);
  EXPECT_THAT(report.not_tried[0], HasSubstr("with dropout, rows cannot be looked at one by one"));
  // Its own answer is recognised, and a window beside dropout too.
  const AttentionResult ours = answer(problem);
  const std::vector<float> own(ours.output.data<float>(),
                               ours.output.data<float>() + ours.output.size());
  EXPECT_TRUE(expected(problem, own).matches);
  problem.causal = true;
  problem.window = 3;
  EXPECT_THAT(faults(problem, own), IsEmpty());  // neither mask alone explains it
  problem.window = 0;
  EXPECT_THAT(faults(problem, own), ElementsAre("causal_missing"));
}

TEST(Diagnose, EveryFaultOfTheCatalogHasItsOwnNameAndMeaning) {
  std::set<std::string> names;
  for (const KnownFault& fault : known_faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_FALSE(std::string(fault.meaning).empty());
  }
  EXPECT_GE(names.size(), 30u);
}

TEST(Diagnose, HalfStorageStillTellsWindowsApart) {
  NaiveAttention wrong = NaiveAttention::random(1, 2, 2, 300, 300, 16, 4);
  for (auto* array : {&wrong.q, &wrong.k, &wrong.v}) {
    for (float& value : *array) value = to_float(to_bfloat16(value));
  }
  wrong.seen = [](auto, auto, auto i, auto j) { return j <= i && j > i - 65; };
  const AttentionProblem wide = wrong.problem();
  const Tensor q = converted(wide.q, DType::bfloat16);
  const Tensor k = converted(wide.k, DType::bfloat16);
  const Tensor v = converted(wide.v, DType::bfloat16);
  AttentionProblem problem;
  problem.q = q.view();
  problem.k = k.view();
  problem.v = v.view();
  problem.causal = true;
  problem.window = 64;
  std::vector<float> file = wrong.output();
  for (float& value : file) value = to_float(to_bfloat16(value));
  EXPECT_THAT(faults(problem, file), ElementsAre("window_one_more"));
}

}  // namespace
}  // namespace volvelle
