#include "volvelle/studies/stream_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "studies/stack_streams.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

double cell(const StudyTable& table, std::size_t row, std::size_t column) {
  return std::get<double>(table.rows.at(row).at(column));
}

TEST(StreamGrowth, PrintsTheDocumentsFourLines) {
  const StudyResult result = study_stream_growth();
  const StudyTable& rows = result.tables[0];
  ASSERT_EQ(rows.rows.size(), 24u);
  const double length[] = {1.290448, 2.510651, 3.675187, 4.549646};
  const double share[] = {0.77493, 0.3983, 0.2721, 0.2198};
  const std::size_t layers[] = {1, 6, 12, 24};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(cell(rows, layers[i] - 1, 1), length[i], 5e-7);
    EXPECT_NEAR(cell(rows, layers[i] - 1, 2), share[i], 5e-5);
    EXPECT_DOUBLE_EQ(cell(rows, layers[i] - 1, 3), std::sqrt(1.0 + static_cast<double>(layers[i])));
  }
  const std::string text = study_text(result);
  for (const char* line : {"   1     1.29    77% ", "   6     2.51    40% ",
                           "  12     3.68    27% ", "  24     4.55    22% "}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(text, HasSubstr("Unit branches are illustrative: not a model of a real network"));
}

TEST(StreamGrowth, TheStreamThatIsPutBackFailsTheCheck) {
  for (const RandomStream stream :
       {RandomStream::numpy, RandomStream::torch, RandomStream::philox}) {
    const StudyResult result = study_stream_growth({.layers = 6, .seed = 5, .stream = stream});
    ASSERT_EQ(result.controls.size(), 1u);
    EXPECT_TRUE(result.controls[0].failed);
    EXPECT_THAT(result.controls[0].figures, HasSubstr("length is 1.00"));
  }
}

// One layer after another is the stack.
TEST(StreamGrowth, MeasuresTheStacksThatAStackIs) {
  constexpr std::int64_t kLayers = 3;
  const StackOptions sizes{.width = 32, .heads = 4, .feed_forward = 64};
  const StackStreams streams =
      measure_stack_streams({.block = sizes, .layers = kLayers, .batch = 2, .tokens = 5, .seed = 9},
                            [](std::int64_t) { return true; });
  for (const char* placement : {"pre", "post"}) {
    StackOptions options = sizes;
    options.layers = kLayers;
    options.placement = placement;
    options.final_norm = FinalNorm::no;
    Stack stack(options);
    const auto random = make_initializer({.stream = RandomStream::numpy, .seed = 9});
    Variable x(Tensor(DType::float32, Shape{2, 5, 32}));
    random->normal(x);
    stack.initialize(*random);
    StackTrace trace;
    const NoGrad off;
    stack.forward(x, {}, &trace);
    const auto length = [](const Variable& v) {
      double squares = 0;
      for (std::int64_t i = 0; i < v.size(); ++i) {
        squares += std::pow(static_cast<double>(v.value().data<float>()[i]), 2);
      }
      return std::sqrt(squares);
    };
    const auto& measured = placement == std::string("pre") ? streams.pre : streams.post;
    ASSERT_EQ(measured.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(measured[i].length, length(trace.inputs[i + 1]) / length(x), 1e-6) << placement;
    }
    // The pre-LN stream is its own sum: the last branch over what it left.
    if (placement == std::string("pre")) {
      EXPECT_NEAR(measured[2].feed_forward_share,
                  length(trace.branches[2][1]) / length(trace.inputs[3]), 1e-6);
    }
  }
  EXPECT_GT(streams.pre[2].length, streams.pre[0].length);
  for (const LayerStream& layer : streams.post) EXPECT_NEAR(layer.length, 1, 0.15);
}

TEST(StreamGrowth, AnyNumberOfThreadsGivesTheSameBits) {
  const auto json = [](int threads) {
    std::ostringstream out;
    write_study_json(out, study_stream_growth({.layers = 5}, {.threads = threads}));
    return out.str();
  };
  const std::string one = json(1);
  EXPECT_EQ(json(2), one);
  EXPECT_EQ(json(8), one);
}

TEST(StreamGrowth, LateBranchesOfPreLnAreSmallerPartsAndOfPostLnAreNot) {
  const StudyResult result = study_stream_growth();
  const StudyTable& stacks = result.tables[1];
  EXPECT_LT(cell(stacks, 23, 3), 0.75 * cell(stacks, 0, 3));
  EXPECT_GT(cell(stacks, 23, 6), 0.9 * cell(stacks, 0, 6));
  EXPECT_THAT(result.reading.back(), HasSubstr("pre-LN's top layers change the stream less"));
}

TEST(StreamGrowth, StopsBetweenLayersAndTellsHowFarItIs) {
  int asked = 0;
  double furthest = 0;
  const StudyResult result = study_stream_growth(
      {.layers = 4}, {.stopped = [&] { return ++asked > 2; },
                      .progress = [&](double done, const std::string&) { furthest = done; }});
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.tables[1].rows.size(), 2u);
  EXPECT_EQ(furthest, 0.25);
  EXPECT_EQ(study_svg(result).find("nan"), std::string::npos);
}

TEST(StreamGrowth, OneLayerAndOddWidthsWork) {
  for (const std::int64_t width : {2, 3, 7, 66}) {
    const StudyResult result = study_stream_growth({.layers = 1, .width = width});
    EXPECT_EQ(result.tables[1].rows.size(), 1u);
    EXPECT_FALSE(study_text(result).empty());
  }
}

void expect_refused(const StreamGrowthOptions& options, const std::string& says) {
  try {
    study_stream_growth(options);
    FAIL() << "not refused: " << says;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(StreamGrowth, RefusesWhatIsNoStream) {
  expect_refused({.layers = 0}, "layers must be 1 to 100,000, not 0");
  expect_refused({.width = 1}, "width must be 2 to 65,536, not 1");
  expect_refused({.width = 1'000'000}, "not 1000000");
}

TEST(RandomStreams, AreFoundByNameOrSuggested) {
  for (const RandomStream stream :
       {RandomStream::torch, RandomStream::numpy, RandomStream::philox}) {
    EXPECT_EQ(random_stream_named(name_of(stream)), stream);
  }
  try {
    random_stream_named("numpi");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'numpy'?"));
  }
}

}  // namespace
}  // namespace volvelle
