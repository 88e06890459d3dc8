#include "volvelle/studies/warm_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <sstream>
#include <string>

#include "studies/warm_up_run.h"
#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

/// Networks that train in a blink.
WarmUpOptions tiny() {
  WarmUpOptions options;
  options.depths = {1};
  options.rates = {0.01};
  options.warm_up = {0, 20};
  options.width = 16;
  options.heads = 2;
  options.tokens = 3;
  options.steps = 120;
  options.seeds = 1;
  return options;
}

std::string json_of(const StudyResult& result) {
  std::ostringstream text;
  write_study_json(text, result);
  return text.str();
}

WarmUpOutcome trained(const WarmUpOptions& options, const WarmUpRun& run) {
  return train_once(options, run, [](std::int64_t) { return true; });
}

TEST(WarmUp, ANetworkLearnsAndWithShuffledLabelsDoesNot) {
  const WarmUpOptions options = tiny();
  WarmUpRun run{.placement = "pre", .depth = 1, .rate = 0.01};
  const WarmUpOutcome learned = trained(options, run);
  EXPECT_TRUE(learned.finished);
  EXPECT_EQ(learned.verdict, RunVerdict::learned);
  EXPECT_LT(learned.last_loss, 0.3);
  EXPECT_EQ(learned.steps, 120);
  run.shuffled = true;
  const WarmUpOutcome shuffled = trained(options, run);
  EXPECT_EQ(shuffled.verdict, RunVerdict::stuck);
  EXPECT_NEAR(shuffled.last_loss, std::log(2), 0.2);
}

TEST(WarmUp, ARateTooHighBreaksARunWhichStopsThere) {
  WarmUpOptions options = tiny();
  options.optimizer = "sgd";
  const WarmUpOutcome outcome = trained(options, {.placement = "pre", .depth = 1, .rate = 1e6});
  EXPECT_EQ(outcome.verdict, RunVerdict::broke);
  EXPECT_LT(outcome.steps, 40);
}

TEST(WarmUp, RunsOfOneSeedStartFromTheSameLoss) {
  const WarmUpOptions options = tiny();
  const WarmUpRun run{.placement = "post", .depth = 2, .rate = 0.01, .seed = 5};
  WarmUpRun other = run;
  other.rate = 0.001;
  other.arm = {WarmUpArm::Kind::warm_up, 20};
  EXPECT_EQ(trained(options, run).first_loss, trained(options, other).first_loss);
  other.seed = 6;
  EXPECT_NE(trained(options, run).first_loss, trained(options, other).first_loss);
}

TEST(WarmUp, AnUntrainedNetworkLosesNoLessThanTheGuess) {
  const WarmUpOptions options = tiny();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const WarmUpRun run{.placement = "pre", .depth = 1, .rate = 1e-9, .seed = seed};
    EXPECT_GT(trained(options, run).first_loss, 0.97 * std::log(2)) << seed;
  }
}

// Rates that change nothing: whatever the seed, nothing broke.
TEST(WarmUp, ARunThatDoesNotMoveIsStuck) {
  WarmUpOptions options = tiny();
  options.steps = 40;
  options.batch = 2;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const WarmUpRun run{.placement = "pre", .depth = 1, .rate = 1e-9, .seed = seed};
    EXPECT_EQ(trained(options, run).verdict, RunVerdict::stuck) << seed;
  }
}

TEST(WarmUp, FirstStepsAreMeasuredLayerByLayer) {
  WarmUpRun run{.placement = "pre", .depth = 3, .rate = 0.01, .measure_layers = true};
  const WarmUpOutcome outcome = trained(tiny(), run);
  std::vector<std::string> names;
  for (const LayerFigures& layer : outcome.layers) {
    names.push_back(layer.layer);
    EXPECT_GT(layer.gradient_norm, 0) << layer.layer;
    EXPECT_GT(layer.update_ratio, 0) << layer.layer;
  }
  EXPECT_THAT(names,
              ::testing::IsSupersetOf({"embedding", "stack.layers.0", "stack.layers.2", "head"}));
  run.measure_layers = false;
  const WarmUpOutcome plain = trained(tiny(), run);
  EXPECT_TRUE(plain.layers.empty());
  EXPECT_EQ(plain.last_loss, outcome.last_loss);  // looking changes nothing
}

TEST(WarmUp, TheStudyHasARowForEachCellAndAControlThatFails) {
  WarmUpOptions options = tiny();
  options.rates = {0.03, 1e-6};
  const StudyResult result = study_warm_up(options);
  EXPECT_TRUE(result.complete);
  const StudyTable& rows = result.tables.front();
  EXPECT_EQ(rows.key, "rows");
  ASSERT_EQ(rows.rows.size(), 2u * 3u * 2u);
  for (const auto& row : rows.rows) EXPECT_EQ(row.size(), rows.columns.size());
  EXPECT_EQ(std::get<double>(rows.rows[0][3]), 1e-6);  // in ascending order
  ASSERT_EQ(result.controls.size(), 1u);
  EXPECT_TRUE(result.controls[0].failed);
  EXPECT_THAT(result.controls[0].figures, HasSubstr("stuck"));
  const std::string text = study_text(result);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(study_svg(result), HasSubstr("</svg>"));
}

TEST(WarmUp, ResultsDoNotDependOnTheNumberOfThreads) {
  WarmUpOptions options = tiny();
  options.rates = {0.001, 0.3};
  options.steps = 30;
  options.seeds = 2;
  const std::string alone = json_of(study_warm_up(options, {.threads = 1}));
  EXPECT_EQ(alone, json_of(study_warm_up(options, {.threads = 2})));
  EXPECT_EQ(alone, json_of(study_warm_up(options, {.threads = 8})));
  options.seed = 1;
  EXPECT_NE(alone, json_of(study_warm_up(options, {.threads = 2})));  // the comparison can fail
}

TEST(WarmUp, BrokenRunsBuySeedsNearTheEdge) {
  WarmUpOptions options = tiny();
  options.placements = {"pre"};
  options.optimizer = "sgd";
  options.rates = {0.3, 1e6};
  options.steps = 200;
  const StudyResult result = study_warm_up(options);
  const auto fact = [&](const std::string& key) -> std::int64_t {
    for (const auto& [name, value] : result.facts) {
      if (name == key) return std::get<std::int64_t>(value);
    }
    return -1;
  };
  EXPECT_GT(fact("bought_runs"), 0);
  EXPECT_EQ(fact("runs"), 6 + fact("bought_runs"));
  std::int64_t counted = 0;
  for (const auto& row : result.tables[0].rows) {
    const std::int64_t runs = std::get<std::int64_t>(row[7]);
    EXPECT_EQ(runs, std::get<std::int64_t>(row[4]) + std::get<std::int64_t>(row[5]) +
                        std::get<std::int64_t>(row[6]));
    EXPECT_LE(runs, 2);  // as many again at most
    counted += runs;
  }
  EXPECT_EQ(counted, fact("runs"));
}

TEST(WarmUp, AnInterruptLeavesWhatWasMeasured) {
  WarmUpOptions options = tiny();
  options.steps = 60;
  std::atomic<int> asked = 0;
  double done = 0;
  const StudyResult result =
      study_warm_up(options, {.threads = 1,
                              .stopped = [&] { return ++asked > 200; },  // in the fourth run
                              .progress =
                                  [&](double share, const std::string&) {
                                    EXPECT_GE(share, done);
                                    done = share;
                                  }});
  EXPECT_FALSE(result.complete);
  EXPECT_TRUE(result.controls.empty());
  std::int64_t runs = 0;
  for (const auto& row : result.tables[0].rows) runs += std::get<std::int64_t>(row[7]);
  EXPECT_EQ(runs, 3);
  EXPECT_GT(done, 0.3);
  EXPECT_LT(done, 0.9);
  EXPECT_THAT(study_text(result), HasSubstr("Stopped early"));
  EXPECT_NE(json_of(result), "");
  EXPECT_THAT(study_svg(result), HasSubstr("</svg>"));
}

TEST(WarmUp, BadOptionsAreRefused) {
  const auto refused = [](auto change, const char* message) {
    WarmUpOptions options = tiny();
    change(options);
    try {
      study_warm_up(options);
      ADD_FAILURE() << "took what says: " << message;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  refused([](WarmUpOptions& o) { o.placements = {}; }, "no placements");
  refused([](WarmUpOptions& o) { o.placements = {"pre", "pots"}; }, "post");
  refused([](WarmUpOptions& o) { o.placements = {"pre", "pre"}; }, "twice");
  refused([](WarmUpOptions& o) { o.depths = {0}; }, "depths");
  refused([](WarmUpOptions& o) { o.rates = {-0.1}; }, "above 0");
  refused([](WarmUpOptions& o) { o.rates = {0.1, NAN}; }, "above 0");
  refused([](WarmUpOptions& o) { o.warm_up = {121}; }, "0 (none) to 120");
  refused([](WarmUpOptions& o) { o.warm_up = {-1}; }, "0 (none) to 120");
  refused([](WarmUpOptions& o) { o.steps = 19; }, "steps");
  refused([](WarmUpOptions& o) { o.seeds = 0; }, "seeds");
  refused([](WarmUpOptions& o) { o.far_seeds = 2; }, "far seeds");
  refused([](WarmUpOptions& o) { o.tokens = 6; }, "divisible");
  refused([](WarmUpOptions& o) { o.batch = 0; }, "batch");
  refused([](WarmUpOptions& o) { o.optimizer = "adam"; }, "adamw");
  refused([](WarmUpOptions& o) { o.width = 15; }, "15");
}

TEST(WarmUp, EveryOptimizerHasRates) {
  for (const OptimizerEntry& entry : optimizers()) {
    EXPECT_GE(warm_up_rates(entry.name).size(), 3u) << entry.name;
  }
}

}  // namespace
}  // namespace volvelle
