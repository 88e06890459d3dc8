// What the study can be asked beside its defaults, on stacks small enough for every run of the
// tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "studies/norm_placement_memory.h"
#include "studies/study_tables.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/placement.h"
#include "volvelle/studies/norm_placement.h"

namespace volvelle {
namespace {

using testing::cell;
using testing::has_table;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::numbers;
using testing::table;

NormPlacementOptions small() {
  return {.depths = {3, 6},
          .seeds = 3,
          .width = 16,
          .heads = 2,
          .feed_forward = 32,
          .batch = 2,
          .tokens = 6,
          .classes = 5};
}

std::string reading_of(const StudyResult& result) {
  std::string all;
  for (const std::string& line : result.reading) all += line + '\n';
  return all;
}

std::vector<double> all_norms(const StudyResult& result) {
  std::vector<double> all;
  const StudyTable& rows = table(result, "rows");
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    for (const double ratio : numbers(rows, row, "ratios")) all.push_back(ratio);
    for (const double norm : numbers(rows, row, "layer_norms")) all.push_back(norm);
  }
  return all;
}

TEST(NormPlacementOptions, AnyNumberOfThreadsGivesTheSameBits) {
  const std::vector<double> one = all_norms(study_norm_placement(small(), {.threads = 1}));
  for (const int threads : {2, 3, 8}) {
    EXPECT_EQ(all_norms(study_norm_placement(small(), {.threads = threads})), one) << threads;
  }
  NormPlacementOptions lone = small();
  lone.seeds = 1;
  EXPECT_EQ(all_norms(study_norm_placement(lone, {.threads = 4})),
            all_norms(study_norm_placement(lone, {.threads = 1})))
      << "one seed has all threads inside its run";
}

TEST(NormPlacementOptions, DepthsAndPlacementsDoNotChangeEachOther) {
  const StudyResult both = study_norm_placement(small());
  NormPlacementOptions alone = small();
  alone.depths = {6};
  alone.placements = {"pre"};
  const StudyResult one = study_norm_placement(alone);
  EXPECT_EQ(numbers(table(one, "rows"), 0, "ratios"), numbers(table(both, "rows"), 3, "ratios"));
  EXPECT_FALSE(has_table(one, "paired"));
  EXPECT_FALSE(has_table(one, "depth_exponents"));
}

TEST(NormPlacementOptions, RowsAreExactlyWhatWasAskedFor) {
  NormPlacementOptions options = small();
  options.placements = {"pre", "none", "x + attention(norm(x)); norm(x + feed_forward(x))"};
  options.norms = {NormKind::layer, NormKind::rms};
  const StudyResult result = study_norm_placement(options);
  const StudyTable& rows = table(result, "rows");
  ASSERT_EQ(rows.rows.size(), 12u);
  std::size_t row = 0;
  for (const std::int64_t depth : options.depths) {
    for (const char* norm : {"layer", "rms"}) {
      for (const std::string& placement : options.placements) {
        EXPECT_EQ(cell<std::int64_t>(rows, row, "depth"), depth);
        EXPECT_EQ(cell<std::string>(rows, row, "norm"), norm);
        EXPECT_EQ(cell<std::string>(rows, row, "placement"), placement);
        EXPECT_EQ(numbers(rows, row, "layer_norms").size(), static_cast<std::size_t>(depth));
        ++row;
      }
    }
  }
  EXPECT_EQ(table(result, "paired").rows.size(), 8u) << "each further placement beside the first";
}

TEST(NormPlacementOptions, EveryPlacementInTheTableIsMeasured) {
  NormPlacementOptions options = small();
  options.placements.clear();
  for (const PlacementEntry& entry : norm_placements()) options.placements.emplace_back(entry.name);
  options.seeds = 1;
  const StudyResult result = study_norm_placement(options);
  const StudyTable& repeated = table(result, "repeated");
  ASSERT_EQ(repeated.rows.size(), 2 * options.placements.size());
  for (std::size_t row = 0; row < repeated.rows.size(); ++row) {
    EXPECT_FALSE(cell<bool>(repeated, row, "rounding_noise"))
        << cell<std::string>(repeated, row, "placement");
  }
  const StudyResult list = list_norm_placements();
  ASSERT_EQ(table(list, "rows").rows.size(), options.placements.size());
  EXPECT_EQ(cell<std::string>(table(list, "rows"), 0, "formula"), placement_formula("pre"));
}

// RMS norm in place of layer norm changes figures, not the question.
TEST(NormPlacementOptions, RmsNormLeavesPostAbovePre) {
  NormPlacementOptions options;
  options.depths = {12};
  options.seeds = 8;
  options.norms = {NormKind::layer, NormKind::rms};
  const StudyResult result = study_norm_placement(options);
  const StudyTable& rows = table(result, "rows");
  EXPECT_GT(cell<double>(rows, 0, "median"), cell<double>(rows, 1, "median"));
  EXPECT_GT(cell<double>(rows, 2, "median"), cell<double>(rows, 3, "median"));
  EXPECT_NE(numbers(rows, 0, "ratios"), numbers(rows, 2, "ratios"));
  EXPECT_THAT(reading_of(result), HasSubstr("in the same order at every depth"));
}

TEST(NormPlacementOptions, ALossThatDependsOnNothingIsFoundOut) {
  for (const NormKind norm : {NormKind::layer, NormKind::rms}) {
    NormPlacementOptions options = small();
    options.loss = PlacementLoss::degenerate;
    options.norms = {norm};
    const StudyResult result = study_norm_placement(options);
    const StudyTable& repeated = table(result, "repeated");
    for (std::size_t row = 0; row < repeated.rows.size(); ++row) {
      EXPECT_TRUE(cell<bool>(repeated, row, "rounding_noise"));
    }
    const std::string reading = reading_of(result);
    EXPECT_THAT(reading, HasSubstr("Rounding noise, so no reading: 3 layers post, 3 layers pre"));
    EXPECT_THAT(reading, HasSubstr("close to 1 whatever goes in"));
    EXPECT_THAT(reading, Not(HasSubstr("puts more gradient")));
    EXPECT_THAT(reading, Not(HasSubstr("Xiong")));
  }
}

// Without a norm at the end the same loss does depend on the network.
TEST(NormPlacementOptions, TheSameLossWithoutAFinalNormIsNoNoise) {
  NormPlacementOptions options = small();
  options.loss = PlacementLoss::degenerate;
  options.placements = {"pre"};
  options.final_norm = FinalNorm::no;
  const StudyResult result = study_norm_placement(options);
  const StudyTable& repeated = table(result, "repeated");
  EXPECT_FALSE(cell<bool>(repeated, 0, "rounding_noise"));
  ASSERT_EQ(result.controls.size(), 1u);
  EXPECT_TRUE(result.controls[0].failed) << "the control has its norm";
}

TEST(NormPlacementOptions, AKeysBiasIsRoundingNoise) {
  NormPlacementOptions options = small();
  options.parameter = "self_attn.in_proj_bias:key";
  const StudyResult keys = study_norm_placement(options);
  EXPECT_THAT(reading_of(keys), HasSubstr("softmax does not see"));
  const StudyTable& repeated = table(keys, "repeated");
  for (std::size_t row = 0; row < repeated.rows.size(); ++row) {
    EXPECT_TRUE(cell<bool>(repeated, row, "rounding_noise"));
    EXPECT_LT(cell<double>(repeated, row, "double_norm"), 1e-15);
  }
  options.parameter = "self_attn.in_proj_bias:value";
  const StudyResult values = study_norm_placement(options);
  EXPECT_FALSE(cell<bool>(table(values, "repeated"), 0, "rounding_noise"));
}

TEST(NormPlacementOptions, PartsOfThePackedProjectionsAddUp) {
  NormPlacementOptions options = small();
  options.seeds = 1;
  const auto norms = [&](const std::string& parameter) {
    options.parameter = parameter;
    return numbers(table(study_norm_placement(options), "rows"), 0, "layer_norms");
  };
  const auto whole = norms("self_attn.in_proj_weight");
  const auto query = norms("self_attn.in_proj_weight:query");
  const auto key = norms("self_attn.in_proj_weight:key");
  const auto value = norms("self_attn.in_proj_weight:value");
  for (std::size_t layer = 0; layer < whole.size(); ++layer) {
    EXPECT_NEAR(std::hypot(query[layer], key[layer], value[layer]) / whole[layer], 1, 1e-6);
  }
}

TEST(NormPlacementOptions, InitialValuesAndStreamsAreWhatWasAskedFor) {
  const std::vector<double> plain = all_norms(study_norm_placement(small()));
  for (const Initialization scheme :
       {Initialization::xavier, Initialization::depth_scaled, Initialization::normal}) {
    NormPlacementOptions options = small();
    options.initialization = scheme;
    EXPECT_NE(all_norms(study_norm_placement(options)), plain) << name_of(scheme);
  }
  for (const RandomStream stream : {RandomStream::numpy, RandomStream::philox}) {
    NormPlacementOptions options = small();
    options.stream = stream;
    EXPECT_NE(all_norms(study_norm_placement(options)), plain) << name_of(stream);
  }
  NormPlacementOptions later = small();
  later.first_seed = 1;
  later.seeds = 2;
  const auto from_0 = numbers(table(study_norm_placement(small()), "rows"), 0, "ratios");
  const auto from_1 = numbers(table(study_norm_placement(later), "rows"), 0, "ratios");
  EXPECT_EQ(from_1, std::vector<double>(from_0.begin() + 1, from_0.end()));
  NormPlacementOptions smooth = small();
  smooth.activation = Activation::gelu;
  EXPECT_NE(all_norms(study_norm_placement(smooth)), plain);
}

// Values that depend on the depth are drawn for each depth as if it were the only one.
TEST(NormPlacementOptions, DepthScaledValuesAreThoseOfTheirDepth) {
  NormPlacementOptions both = small();
  both.initialization = Initialization::depth_scaled;
  NormPlacementOptions shallow = both;
  shallow.depths = {3};
  EXPECT_EQ(numbers(table(study_norm_placement(both), "rows"), 1, "ratios"),
            numbers(table(study_norm_placement(shallow), "rows"), 1, "ratios"));
}

TEST(NormPlacementOptions, EveryLayerHasItsRowWhenAskedFor) {
  NormPlacementOptions options = small();
  EXPECT_FALSE(has_table(study_norm_placement(options), "layers"));
  options.per_layer = true;
  EXPECT_EQ(table(study_norm_placement(options), "layers").rows.size(), 2u * (3 + 6));
}

TEST(NormPlacementOptions, AStoppedStudyKeepsWhatItHas) {
  std::atomic<int> steps{0};
  NormPlacementOptions options = small();
  options.seeds = 50;
  const StudyResult result =
      study_norm_placement(options, {.threads = 1,
                                     .stopped = [&] { return steps.load() >= 10; },
                                     .progress = [&](double, const std::string&) { ++steps; }});
  EXPECT_FALSE(result.complete);
  const StudyTable& rows = table(result, "rows");
  ASSERT_EQ(rows.rows.size(), 4u);
  EXPECT_LT(cell<std::int64_t>(rows, 0, "seeds"), 5);
  EXPECT_GE(cell<std::int64_t>(rows, 0, "seeds"), 1);
  EXPECT_TRUE(study_norm_placement(small()).complete);

  const StudyResult at_once = study_norm_placement(options, {.stopped = [] { return true; }});
  EXPECT_FALSE(at_once.complete);
  EXPECT_TRUE(table(at_once, "rows").rows.empty());
  EXPECT_THAT(reading_of(at_once), HasSubstr("Stopped before anything was measured"));
}

TEST(NormPlacementOptions, ProgressGoesFromNothingToAll) {
  std::vector<double> seen;
  study_norm_placement(small(), {.threads = 1, .progress = [&](double done, const std::string&) {
                                   seen.push_back(done);
                                 }});
  ASSERT_EQ(seen.size(), 4u * 3 + 2);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1);
}

std::string refusal(const NormPlacementOptions& options) {
  try {
    study_norm_placement(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(NormPlacementOptions, BadInputIsRefusedBeforeAnythingIsDrawn) {
  const auto with = [](auto change) {
    NormPlacementOptions options = small();
    change(options);
    return refusal(options);
  };
  EXPECT_THAT(with([](auto& o) { o.heads = 3; }),
              HasSubstr("width=16 is not a multiple of heads=3"));
  EXPECT_THAT(with([](auto& o) { o.seeds = 0; }), HasSubstr("seeds=0 must be positive"));
  EXPECT_THAT(with([](auto& o) { o.depths = {4, -1}; }), HasSubstr("depth=-1 must be positive"));
  EXPECT_THAT(with([](auto& o) { o.depths = {1}; }), HasSubstr("no last layer beside its first"));
  EXPECT_THAT(with([](auto& o) { o.depths = {}; }), HasSubstr("no depth was given"));
  EXPECT_THAT(with([](auto& o) { o.depths = {4, 4}; }), HasSubstr("depth 4 was given twice"));
  EXPECT_THAT(with([](auto& o) { o.placements = {}; }), HasSubstr("no placement was given"));
  EXPECT_THAT(with([](auto& o) { o.norms = {NormKind::rms, NormKind::rms}; }),
              HasSubstr("norm rms was given twice"));
  EXPECT_THAT(with([](auto& o) { o.placements = {"pots"}; }),
              HasSubstr("unknown placement 'pots'; did you mean 'post'?"));
  EXPECT_THAT(with([](auto& o) { o.parameter = "linear1.wieght"; }),
              HasSubstr("has no parameter 'linear1.wieght'; did you mean 'linear1.weight'?"));
  EXPECT_THAT(with([](auto& o) { o.parameter = "linear1.weight:key"; }), HasSubstr("has no parts"));
  EXPECT_THAT(with([](auto& o) { o.parameter = "self_attn.in_proj_bias:keys"; }),
              HasSubstr("did you mean 'key'?"));
  EXPECT_THAT(with([](auto& o) { o.classes = 0; }), HasSubstr("classes=0 must be positive"));
  EXPECT_THAT(with([](auto& o) { o.batch = 0; }), HasSubstr("batch=0 must be positive"));
  EXPECT_THAT(with([](auto& o) { o.tokens = -3; }), HasSubstr("tokens=-3 must be positive"));
  EXPECT_THAT(with([](auto& o) {
                o.measure = PlacementMeasure::stream;
                o.parameter = "linear2.weight";
              }),
              HasSubstr("goes with measure parameter"));
  EXPECT_THAT(with([](auto& o) { o.width = o.heads * (std::int64_t{1} << 40); }), HasSubstr("GiB"));
  EXPECT_THAT(with([](auto& o) { o.tokens = std::int64_t{1} << 60; }), HasSubstr("GiB"));
  EXPECT_EQ(refusal(small()), "accepted");
}

// A parameter that only some of the placements have is refused for those that lack it.
TEST(NormPlacementOptions, AParameterThatALayerLacksIsNamedWithItsPlacement) {
  NormPlacementOptions options = small();
  options.placements = {"pre", "none"};
  options.parameter = "norm1.weight";
  EXPECT_THAT(refusal(options), HasSubstr("placement none has no parameter 'norm1.weight'"));
}

// What is held grows with what is asked for, not with the number of seeds.
TEST(NormPlacementOptions, MemoryDoesNotGrowWithSeeds) {
  NormPlacementOptions options;
  const double few = bytes_needed(plan_norm_placement(options, 2));
  options.seeds = 2000;
  EXPECT_EQ(bytes_needed(plan_norm_placement(options, 2)), few);
  EXPECT_LT(few, 400.0 * 1024 * 1024);
  options.depths = {96};
  EXPECT_GT(bytes_needed(plan_norm_placement(options, 2)), 1.9 * few);
}

}  // namespace
}  // namespace volvelle
