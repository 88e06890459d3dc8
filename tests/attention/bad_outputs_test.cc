// The rules of the arrays that are written, and what counts as overlap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/arrays.h"
#include "volvelle/attention/attend.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// B 1, H 2, T 3, S 4, D 8, E 8.
struct Sound {
  Tensor q = Tensor::zeros(DType::float32, {1, 2, 3, 8});
  Tensor k = Tensor::zeros(DType::float32, {1, 2, 4, 8});
  Tensor v = Tensor::zeros(DType::float32, {1, 2, 4, 8});
  Tensor output = Tensor::zeros(DType::float32, {1, 2, 3, 8});
  AttentionProblem problem{.q = q.view(), .k = k.view(), .v = v.view()};
};

std::string message_of(const AttentionProblem& problem, const AttentionOutputs& outputs) {
  try {
    attend(problem, outputs);
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), StartsWith("[attend] "));
    return error.what();
  }
  return "no throw";
}

TEST(BadOutputs, ShapesAndDtypes) {
  Sound s;
  Tensor transposed = Tensor::zeros(DType::float32, {1, 3, 2, 8});
  Tensor wide = Tensor::zeros(DType::float64, {1, 2, 3, 8});
  Tensor flat = Tensor::zeros(DType::float32, {2, 3, 8});
  Tensor lse = Tensor::zeros(DType::float32, {1, 2, 3});
  Tensor wide_lse = Tensor::zeros(DType::float64, {1, 2, 3});
  Tensor keys = Tensor::zeros(DType::float32, {1, 2, 4});
  EXPECT_THAT(message_of(s.problem, {.output = transposed.mutable_view()}),
              HasSubstr("output (1,3,2,8) must have shape (B,H,T,E) = (1,2,3,8)"));
  EXPECT_THAT(message_of(s.problem, {.output = flat.mutable_view()}),
              HasSubstr("output (2,3,8) must have shape"));
  EXPECT_THAT(message_of(s.problem, {.output = wide.mutable_view()}),
              HasSubstr("output is float64; it must be float32"));
  EXPECT_THAT(message_of(s.problem, {.lse = keys.mutable_view()}),
              HasSubstr("lse (1,2,4) must have shape (B,H,T) = (1,2,3)"));
  EXPECT_THAT(message_of(s.problem, {.lse = wide_lse.mutable_view()}),
              HasSubstr("lse is float64; it must be float32"));
  EXPECT_THAT(message_of(s.problem, {.entropy = keys.mutable_view()}),
              HasSubstr("entropy (1,2,4)"));
  EXPECT_THAT(message_of(s.problem, {.column_sums = lse.mutable_view()}),
              HasSubstr("column_sums (1,2,3) must have shape (B,H,S) = (1,2,4)"));
  EXPECT_THAT(message_of(s.problem, {.output = MutableView(nullptr, DType::float32, {1, 2, 3, 8})}),
              HasSubstr("pointer is null"));
}

TEST(BadOutputs, Rank3ProblemsTakeTheirOwnRankOrFour) {
  Sound s;
  AttentionProblem p{.q = View(s.q.raw(), DType::float32, {2, 3, 8}),
                     .k = View(s.k.raw(), DType::float32, {2, 4, 8}),
                     .v = View(s.v.raw(), DType::float32, {2, 4, 8})};
  Tensor three = Tensor::zeros(DType::float32, {2, 3, 8});
  Tensor lse = Tensor::zeros(DType::float32, {2, 3});
  EXPECT_EQ(message_of(p, {.output = three.mutable_view(), .lse = lse.mutable_view()}), "no throw");
  EXPECT_EQ(message_of(p, {.output = s.output.mutable_view()}), "no throw");
  Tensor two = Tensor::zeros(DType::float32, {3, 8});
  EXPECT_THAT(message_of(p, {.output = two.mutable_view()}),
              HasSubstr("(B,H,T,E) = (1,2,3,8) or (2,3,8)"));
}

TEST(BadOutputs, WrittenOverThemselves) {
  Sound s;
  const MutableView same(s.output.raw(), DType::float32, {1, 2, 3, 8}, {0, 0, 8, 1});
  EXPECT_THAT(message_of(s.problem, {.output = same}), HasSubstr("written over itself"));
  const MutableView crossing(s.output.raw(), DType::float32, {1, 2, 3, 8}, {0, 16, 4, 1});
  EXPECT_THAT(message_of(s.problem, {.output = crossing}), HasSubstr("written over itself"));
}

TEST(BadOutputs, OverInputsOrEachOther) {
  Sound s;
  const MutableView over_q(s.q.raw(), DType::float32, {1, 2, 3, 8});
  EXPECT_THAT(message_of(s.problem, {.output = over_q}), HasSubstr("output overlaps q in memory"));
  Tensor pool = Tensor::zeros(DType::float32, {64});
  float* at = pool.data<float>();
  const MutableView output(at, {1, 2, 3, 8});
  EXPECT_THAT(message_of(s.problem, {.output = output, .lse = MutableView(at + 47, {1, 2, 3})}),
              HasSubstr("lse overlaps output in memory"));
  EXPECT_EQ(message_of(s.problem, {.output = output, .lse = MutableView(at + 48, {1, 2, 3})}),
            "no throw");
  AttentionProblem biased = s.problem;
  biased.slopes = View(at + 46, {2});
  EXPECT_THAT(message_of(biased, {.output = output}), HasSubstr("output overlaps slopes"));
  biased.slopes = View(at + 48, {2});
  EXPECT_EQ(message_of(biased, {.output = output}), "no throw");
}

TEST(BadOutputs, NothingIsWrittenAfterAThrow) {
  Sound s;
  Tensor lse = Tensor::zeros(DType::float64, {1, 2, 3});
  Tensor output = filled(DType::float32, {1, 2, 3, 8}, [] { return 7.0; });
  EXPECT_THROW(attend(s.problem, {.output = output.mutable_view(), .lse = lse.mutable_view()}),
               InvalidArgument);
  for (const double value : values_of(output.view())) EXPECT_EQ(value, 7);
}

// (B,T,H,E): a buffer of its own in another order.
TEST(Outputs, TokenMajorMemoryIsWritten) {
  Sound s;
  const MutableView token_major(s.output.raw(), DType::float32, {1, 2, 3, 8}, {48, 8, 16, 1});
  EXPECT_EQ(message_of(s.problem, {.output = token_major}), "no throw");
}

// The slot for the output lies between those of q, k and v in one (T,4,H,D) buffer: no byte is
// shared, though the ranges interleave.
TEST(Outputs, ASlotOfTheInputsBufferIsLegal) {
  Tensor buffer = Tensor::zeros(DType::float32, {5, 4, 2, 8});
  float* at = buffer.data<float>();
  const auto slot = [&](int which) {
    return MutableView(at + which * 16, {1, 2, 5, 8}, {320, 8, 64, 1});
  };
  const AttentionProblem p{.q = slot(0), .k = slot(1), .v = slot(3)};
  EXPECT_EQ(message_of(p, {.output = slot(2)}), "no throw");
  EXPECT_THAT(message_of(p, {.output = slot(3)}), HasSubstr("output overlaps v"));
  const MutableView reversed(at + 32 + 4 * 64, {1, 2, 5, 8}, {320, 8, -64, 1});
  EXPECT_EQ(message_of(p, {.output = reversed}), "no throw");
  const MutableView between(at + 24, {1, 2, 5, 8}, {320, 8, 64, 1});
  EXPECT_THAT(message_of(p, {.output = between}), HasSubstr("output overlaps k"));
}

TEST(Outputs, EmptyOnesOverlapNothing) {
  Tensor buffer = Tensor::zeros(DType::float32, {2, 8});
  const View rows(buffer.raw(), DType::float32, {2, 8});
  const View none(buffer.raw(), DType::float32, {0, 8});
  const AttentionProblem p{.q = none, .k = rows, .v = rows};
  EXPECT_EQ(message_of(p, {.output = MutableView(buffer.raw(), DType::float32, {0, 8})}),
            "no throw");
}

}  // namespace
}  // namespace volvelle::testing
