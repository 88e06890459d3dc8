// The contest of position schemes at lengths that training has not seen: what is measured, on whom,
// what counts, that threads change nothing, and what is refused.
#include "volvelle/studies/extrapolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <sstream>
#include <string>

#include "studies/extrapolation_contest.h"
#include "studies/extrapolation_findings.h"
#include "studies/study_tables.h"
#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using testing::cell;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::table;

/// Networks that train in a blink, and learn little.
ExtrapolationOptions tiny() {
  ExtrapolationOptions options;
  options.train = 16;
  options.test = {16, 32};
  options.schemes = {"none", "alibi"};
  options.rates = {3e-3};
  options.steps = 6;
  options.seeds = 1;
  options.width = 16;
  options.heads = 2;
  options.layers = 1;
  options.batch = 4;
  options.test_rows = 4;
  return options;
}

std::string json_of(const StudyResult& result) {
  std::ostringstream text;
  write_study_json(text, result);
  return text.str();
}

TrainedRun trained(const ExtrapolationOptions& options, const ExtrapolationTask& task,
                   const ContestRun& run) {
  return train_run(options, task, run, [](std::int64_t) { return true; });
}

TEST(Extrapolation, ANetworkLearnsTheWordsOfTheLanguage) {
  ExtrapolationOptions options = tiny();
  options.steps = 150;
  options.width = 32;
  options.batch = 16;
  const auto task = make_language_contest(options.train);
  const TrainedRun run = trained(options, *task, {.positions = "rotary", .rate = 0.01, .seed = 1});
  ASSERT_TRUE(run.finished);
  const BandFigures figures =
      measure_bands(*run.model, *task, {.seed = 1, .rows = 32}, 16, {{0, 16}}).front();
  EXPECT_GT(figures.parts[0].accuracy(), 0.9) << "half is what the last word alone gives";
  EXPECT_LT(figures.above_best(), 0.5);
  const auto before = first_network(options, *task, "rotary", 1);
  const BandFigures untrained =
      measure_bands(*before, *task, {.seed = 1, .rows = 32}, 16, {{0, 16}}).front();
  EXPECT_LT(untrained.parts[0].accuracy(), 0.3);
  EXPECT_GT(untrained.above_best(), 2);
  EXPECT_EQ(untrained.labels, figures.labels);
  EXPECT_EQ(untrained.best, figures.best);
}

// A window that begins where the sequence does is the sequence.
TEST(Extrapolation, AWindowAsLongAsTheSequenceIsTheSequence) {
  const ExtrapolationOptions options = tiny();
  const auto task = make_language_contest(16);
  const auto model = first_network(options, *task, "sinusoidal", 3);
  const TestRows rows{.seed = 3, .rows = 5};
  const BandFigures whole = measure_bands(*model, *task, rows, 40, {{30, 40}}).front();
  const BandFigures windowed = measure_in_windows(*model, *task, rows, 40, {{30, 40}}).front();
  EXPECT_EQ(whole.labels, windowed.labels);
  EXPECT_NEAR(whole.loss, windowed.loss, 1e-6);
  // Shorter ones begin later, and an absolute scheme tells.
  const BandFigures shorter = measure_in_windows(*model, *task, rows, 16, {{30, 40}}).front();
  EXPECT_EQ(shorter.labels, whole.labels);
  EXPECT_EQ(shorter.best, whole.best);
  EXPECT_GT(std::abs(shorter.loss - whole.loss), 1e-4);
}

TEST(Extrapolation, LabelsAreFarWhereTheyAreToldBeyondTheTrainingLength) {
  const auto task = make_language_contest(16);
  const ContestBatch batch = task->for_test(1, 0, 8, 128);
  int near = 0, far = 0;
  for (std::size_t i = 0; i < batch.known.size(); ++i) {
    const ContestLabel& label = batch.known[i];
    if (label.part == ContestLabel::kUncounted) continue;
    const std::int64_t next = batch.labels.data<std::int64_t>()[i];
    EXPECT_TRUE(next == label.right[0] || next == label.right[1]) << i;
    if (label.part == 1) ++(label.far ? far : near);
    if (label.part == 0) {
      EXPECT_FALSE(label.far);
    }
    if (i % 128 < 16) {
      EXPECT_FALSE(label.far) << "nothing stands so far back yet";
    }
  }
  EXPECT_GT(near, 30);
  EXPECT_GT(far, 15);
}

TEST(Extrapolation, LongerTestsBeginAsShorterOnesDo) {
  std::string mixed;
  for (int i = 0; i < 3000; ++i) mixed += static_cast<char>('a' + i * i % 7);
  for (const auto& task :
       {make_language_contest(16), make_recall_contest(16), make_text_contest(mixed, 100)}) {
    const ContestBatch shorter = task->for_test(2, 3, 4, 20), longer = task->for_test(2, 3, 4, 100);
    for (std::int64_t row = 0; row < 4; ++row) {
      for (std::int64_t i = 0; i < 20; ++i) {
        ASSERT_EQ(shorter.ids.data<std::int64_t>()[row * 20 + i],
                  longer.ids.data<std::int64_t>()[row * 100 + i])
            << task->name();
      }
    }
    // Rows are the same whoever asks for them with which others.
    const ContestBatch one = task->for_test(2, 5, 1, 20);
    EXPECT_EQ(one.ids.data<std::int64_t>()[7], shorter.ids.data<std::int64_t>()[2 * 20 + 7]);
  }
}

TEST(Extrapolation, TheGuessOfATextIsWhatItsPairsTell) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "abac"[i % 4];
  // After b and c comes a always; after a, one of two as often.
  const double guess = make_text_contest(text, 100)->parts().front().guess;
  EXPECT_NEAR(guess, 0.75, 0.01);
}

TEST(Extrapolation, SequencesReachTheLastQuarterAlwaysOrRarely) {
  const ExtrapolationOptions options = tiny();
  int full = 0;
  for (std::int64_t step = 1; step <= 80; ++step) {
    EXPECT_EQ(tokens_of_step(options, {.positions = "none", .full_every = 1}, step), 16);
    full += tokens_of_step(options, {.positions = "none", .full_every = 8}, step) == 16 ? 1 : 0;
  }
  EXPECT_EQ(full, 10);
  EXPECT_EQ(tokens_of_step(options, {.positions = "none", .full_every = 8}, 1), 12);
}

TEST(Extrapolation, ARunCountsThatReachesWhatItsTaskAsks) {
  const std::vector<ContestPart> parts = make_language_contest(16)->parts();
  ContestOutcome outcome;
  outcome.seen = {.labels = 20,
                  .loss = 1,
                  .parts = {{.near = 10, .near_right = 9}, {.near = 4, .near_right = 3}}};
  EXPECT_TRUE(outcome.counts(parts));
  outcome.seen.parts[1].near_right = 2;
  EXPECT_FALSE(outcome.counts(parts));
  outcome.seen.parts[1] = {.near = 4, .near_right = 4};
  outcome.seen.loss = std::nan("");
  EXPECT_FALSE(outcome.counts(parts));
  outcome.seen = {.labels = 20, .loss = 1, .parts = {{}, {}}};
  EXPECT_FALSE(outcome.counts(parts)) << "nothing was asked";
}

TEST(Extrapolation, RotaryYarnHasTheWeightsOfRotaryAndItsOwnAngles) {
  ExtrapolationOptions options = tiny();
  options.schemes = {"rotary", "rotary-yarn"};
  const auto both = contestants(options);
  EXPECT_EQ(both[0].trained, both[1].trained);
  EXPECT_EQ(both[0].tested(32, 16), both[0].trained);
  EXPECT_THAT(both[1].tested(32, 16), HasSubstr("factor=2"));
  EXPECT_EQ(both[1].tested(16, 16), both[1].trained);
  const StudyResult result = study_extrapolation(options);
  const StudyTable& rows = table(result, "rows");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(cell<double>(rows, 0, "loss_seen"), cell<double>(rows, 1, "loss_seen"));
  EXPECT_NE(cell<double>(rows, 0, "loss_1-2x"), cell<double>(rows, 1, "loss_1-2x"));
  EXPECT_EQ(cell<double>(rows, 0, "window_loss_1-2x"), cell<double>(rows, 1, "window_loss_1-2x"));
  for (const auto& [key, value] : result.facts) {
    if (key == "networks") {
      EXPECT_EQ(std::get<std::int64_t>(value), 1) << "trained once";
    }
  }
}

TEST(Extrapolation, ALearnedTableEndsAndItsRareRowsAreShown) {
  ExtrapolationOptions options = tiny();
  options.schemes = {"learned"};
  options.steps = 16;
  const StudyResult result = study_extrapolation(options);
  const StudyTable& rows = table(result, "rows");
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_TRUE(std::isfinite(cell<double>(rows, 0, "loss_seen")));
  EXPECT_THROW(cell<double>(rows, 0, "loss_1-2x"), std::bad_variant_access) << "beyond its end";
  EXPECT_TRUE(std::isfinite(cell<double>(rows, 0, "window_loss_1-2x")));
  const StudyTable& rare = table(result, "learned_rows");
  ASSERT_EQ(rare.rows.size(), 2u);
  const auto moved = [&](std::size_t row) {
    return cell<double>(rare, row, "change_last") / cell<double>(rare, row, "change_before");
  };
  EXPECT_GT(moved(0), 2 * moved(1)) << "rows that were seen in 2 of 16 steps move less";
}

TEST(Extrapolation, TheControlStaysAtChanceExactly) {
  ExtrapolationOptions options = tiny();
  options.steps = 30;
  const OrderOutcome blind = run_order(options, {.seed = 4}, [](std::int64_t) { return true; });
  EXPECT_EQ(blind.accuracy, 0.5) << "of twins one is right";
  options.steps = 600;
  options.width = 32;
  options.layers = 2;
  const OrderOutcome seeing =
      run_order(options, {.causal = true, .seed = 4}, [](std::int64_t) { return true; });
  EXPECT_GT(seeing.accuracy, kOrderLearned);
}

TEST(Extrapolation, TheStudyShowsEveryRunAndItsControlFails) {
  ExtrapolationOptions options = tiny();
  options.task = "all";
  options.seeds = 2;
  const StudyResult result = study_extrapolation(options);
  EXPECT_TRUE(result.complete);
  const StudyTable& rows = table(result, "rows");
  EXPECT_EQ(rows.rows.size(), 2u * 2u * 2u) << "tasks, schemes, seeds";
  for (const StudyTable& one : result.tables) {
    for (const auto& row : one.rows) EXPECT_EQ(row.size(), one.columns.size()) << one.key;
  }
  ASSERT_EQ(result.controls.size(), 1u);
  EXPECT_TRUE(result.controls[0].failed);
  EXPECT_THAT(result.controls[0].figures, HasSubstr("50.0% to 50.0%"));
  EXPECT_THAT(result.reading.front(), HasSubstr("0 of 4 runs"));
  const std::string text = study_text(result);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(study_svg(result), HasSubstr("</svg>"));
}

TEST(Extrapolation, ResultsDoNotDependOnTheNumberOfThreads) {
  ExtrapolationOptions options = tiny();
  options.rates = {1e-3, 3e-3};
  options.schemes = {"learned", "t5"};
  options.seeds = 2;
  const std::string alone = json_of(study_extrapolation(options, {.threads = 1}));
  EXPECT_EQ(alone, json_of(study_extrapolation(options, {.threads = 3})));
  options.seed = 1;
  EXPECT_NE(alone, json_of(study_extrapolation(options, {.threads = 3})));
}

TEST(Extrapolation, AnInterruptLeavesWhatWasMeasured) {
  ExtrapolationOptions options = tiny();
  options.seeds = 3;
  std::atomic<int> asked = 0;
  double done = 0;
  const StudyResult result =
      study_extrapolation(options, {.threads = 1,
                                    .stopped = [&] { return ++asked > 22; },
                                    .progress =
                                        [&](double share, const std::string&) {
                                          EXPECT_GE(share, done);
                                          done = share;
                                        }});
  EXPECT_FALSE(result.complete);
  const auto rows = table(result, "rows").rows.size();
  EXPECT_GE(rows, 2u);
  EXPECT_LT(rows, 6u);
  EXPECT_THAT(study_text(result), HasSubstr("Stopped early"));
  EXPECT_NE(json_of(result), "");
  EXPECT_THAT(study_svg(result), HasSubstr("</svg>"));
  // Before anything has ended.
  const StudyResult nothing = study_extrapolation(options, {.stopped = [] { return true; }});
  EXPECT_TRUE(table(nothing, "rows").rows.empty());
  EXPECT_TRUE(nothing.controls.empty());
  EXPECT_NE(study_text(nothing), "");
}

TEST(Extrapolation, BadOptionsAreRefused) {
  const auto refused = [](auto change, const char* message) {
    ExtrapolationOptions options = tiny();
    change(options);
    try {
      study_extrapolation(options);
      ADD_FAILURE() << "took what says: " << message;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  refused([](ExtrapolationOptions& o) { o.schemes = {}; }, "no schemes");
  refused([](ExtrapolationOptions& o) { o.schemes = {"rotray"}; }, "rotary");
  refused([](ExtrapolationOptions& o) { o.schemes = {"none", "none"}; }, "twice");
  refused([](ExtrapolationOptions& o) { o.schemes = {"t5(max=17)"}; }, "at most");
  refused([](ExtrapolationOptions& o) { o.schemes = {"clamped(max=100)"}; }, "at most");
  refused([](ExtrapolationOptions& o) { o.schemes = {"learned(rows=8)"}; }, "fewer positions");
  refused([](ExtrapolationOptions& o) { o.task = "langage"; }, "language");
  refused([](ExtrapolationOptions& o) { o.task = "text"; }, "not empty");
  refused([](ExtrapolationOptions& o) { o.task = "recall", o.text = "abc"; }, "for the tasks text");
  refused([](ExtrapolationOptions& o) { o.text = std::string(200, 'a'); }, "longer text");
  refused([](ExtrapolationOptions& o) { o.test = {8}; }, "test length");
  refused([](ExtrapolationOptions& o) { o.train = 4; }, "training length");
  refused([](ExtrapolationOptions& o) { o.train = 8, o.task = "recall"; }, "statements");
  refused([](ExtrapolationOptions& o) { o.rates = {}; }, "no rates");
  refused([](ExtrapolationOptions& o) { o.rates = {NAN}; }, "above 0");
  refused([](ExtrapolationOptions& o) { o.rates = {0.1, 0.1}; }, "twice");
  refused([](ExtrapolationOptions& o) { o.steps = 0; }, "steps");
  refused([](ExtrapolationOptions& o) { o.seeds = 0; }, "seeds");
  refused([](ExtrapolationOptions& o) { o.batch = 0; }, "batch");
  refused([](ExtrapolationOptions& o) { o.width = 15; }, "15");
}

}  // namespace
}  // namespace volvelle
