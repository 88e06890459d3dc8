// Mistakes in the use of positions: the pass by hand is the model's, each mistake is the one it
// says, and what changes nothing changes nothing.
#include "volvelle/studies/position_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>

#include "studies/extrapolation_run.h"
#include "studies/hand_pass.h"
#include "studies/position_fault_list.h"
#include "studies/position_fault_runs.h"
#include "studies/study_tables.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using testing::cell;
using ::testing::HasSubstr;
using testing::table;
using ::testing::ThrowsMessage;

PositionFaultsOptions tiny() {
  PositionFaultsOptions options;
  options.tokens = 16;
  options.steps = 60;
  options.seeds = 1;
  options.width = 32;
  options.heads = 2;
  options.batch = 8;
  options.test_rows = 8;
  return options;
}

double largest_difference(const Variable& a, const Variable& b) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.value().size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a.value().data<float>()[i]) -
                                         static_cast<double>(b.value().data<float>()[i])));
  }
  return largest;
}

/// A network whose scheme matters: every parameter is drawn, tables included.
struct Subject {
  explicit Subject(const std::string& scheme, std::uint64_t seed = 2) {
    PositionFaultsOptions options = tiny();
    options.scheme = scheme;
    const ExtrapolationOptions sizes = fault_sizes(options);
    const auto task = fault_task(options);
    contestant = contestants(sizes).front();
    model = first_network(sizes, *task, contestant.trained, seed);
    ids = task->for_test(seed, 0, 3, 16).ids;
  }
  FaultSubject view() const { return {.model = *model, .facts = contestant.facts, .ids = ids}; }
  Variable right() const { return model->forward(ids.view()); }

  Contestant contestant;
  std::unique_ptr<LanguageModel> model;
  Tensor ids;
  const NoGrad off = {};
};

const PositionFault& fault(const std::string& name) {
  for (const PositionFault& one : position_faults()) {
    if (name == one.name) return one;
  }
  throw std::runtime_error("no fault " + name);
}

TEST(HandPass, WithoutMistakesItIsTheModel) {
  for (const char* scheme : {"none", "sinusoidal", "learned", "rotary",
                             "rotary(pairing=interleaved)", "alibi", "t5", "clamped"}) {
    const Subject subject(scheme);
    EXPECT_LT(largest_difference(hand_pass(*subject.model, subject.ids.view()), subject.right()),
              2e-5)
        << scheme;
  }
}

TEST(HandPass, PositionsThatAreGivenAreUsed) {
  std::vector<std::int64_t> places(16);
  std::iota(places.begin(), places.end(), 0);
  const View by_index(places.data(), {16});
  const std::vector<std::int64_t> zeros(16, 0);
  const View all_0(zeros.data(), {16});
  for (const char* scheme : {"sinusoidal", "rotary", "alibi"}) {
    const Subject subject(scheme);
    const auto passed = [&](const View& tokens, const View& both) {
      return hand_pass(*subject.model, subject.ids.view(),
                       {.token_positions = tokens, .query_positions = both, .key_positions = both});
    };
    EXPECT_LT(largest_difference(passed(by_index, by_index), subject.right()), 2e-5) << scheme;
    EXPECT_GT(largest_difference(passed(all_0, all_0), subject.right()), 1e-3) << scheme;
  }
}

// Without queries every score is 0.
void make_scores_equal(const Subject& subject) {
  for (NamedParameter& parameter : subject.model->parameters()) {
    if (parameter.name.find("in_proj") == std::string::npos) continue;
    Tensor changed = converted(parameter.variable.view(), DType::float32);
    const std::int64_t row = changed.rank() == 2 ? changed.shape()[1] : 1;
    std::fill_n(changed.data<float>(), 32 * row, 0.0f);
    parameter.variable.replace(changed);
  }
}

// Where scores are all equal, weights after such a mask are 1/T each: a known share of the right.
TEST(HandPass, AMaskAfterTheSoftmaxLosesTheShareOfLaterKeys) {
  const Subject subject("none");
  make_scores_equal(subject);
  const Variable right = subject.right();
  const Variable wrong =
      hand_pass(*subject.model, subject.ids.view(), {.mask = HandMask::after_softmax});
  // The last token has no later keys, in any layer but through others; the first has most of them.
  const std::int64_t vocabulary = right.shape()[2];
  const auto moved = [&](std::int64_t token) {
    double sum = 0;
    for (std::int64_t i = 0; i < vocabulary; ++i) {
      sum += std::abs(right.value().data<float>()[token * vocabulary + i] -
                      wrong.value().data<float>()[token * vocabulary + i]);
    }
    return sum;
  };
  EXPECT_GT(moved(0), 1e-2);
  EXPECT_GT(moved(0), moved(15));
}

TEST(HandPass, WithoutItsDiagonalTheFirstTokenSeesNothing) {
  const Subject subject("none");
  const auto pass = [&](const Tensor& ids) {
    return hand_pass(*subject.model, ids.view(), {.mask = HandMask::without_diagonal});
  };
  Tensor changed = converted(subject.ids.view(), DType::int64);
  changed.data<std::int64_t>()[5] = (changed.data<std::int64_t>()[5] + 1) % 16;
  const Variable before = pass(subject.ids), after = pass(changed);
  const std::int64_t vocabulary = before.shape()[2];
  for (std::int64_t i = 0; i < 5 * vocabulary; ++i) {
    ASSERT_EQ(before.value().data<float>()[i], after.value().data<float>()[i]) << "causal";
  }
  EXPECT_GT(largest_difference(before, subject.right()), 1e-3);
}

TEST(HandPass, OtherKindsOfModelsAreRefused) {
  const std::vector<std::int64_t> ids(4);
  const auto passed = [&](const std::function<void(LanguageModelOptions&)>& change) {
    LanguageModelOptions options{
        .stack = {.layers = 2, .width = 16, .heads = 2, .feed_forward = 8, .causal = true},
        .vocabulary = 16};
    change(options);
    const LanguageModel model(options);
    try {
      hand_pass(model, View(ids.data(), {1, 4}));
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(passed([](LanguageModelOptions&) {}), "accepted");
  EXPECT_EQ(passed([](auto& o) { o.positions = "1: rotary | none"; }), "accepted");
  const std::function<void(LanguageModelOptions&)> kOthers[] = {
      [](auto& o) { o.stack.placement = "post"; },
      [](auto& o) { o.stack.causal = false; },
      [](auto& o) { o.stack.norm = NormKind::rms; },
      [](auto& o) { o.stack.epsilon = 0.5; },
      [](auto& o) { o.stack.final_norm = FinalNorm::no; },
      [](auto& o) { o.stack.activation = Activation::gelu; },
      [](auto& o) { o.scale_embedding = true; },
  };
  for (const auto& other : kOthers) EXPECT_THAT(passed(other), HasSubstr("pre-LN"));
}

// Keys of xPos grow with their positions, queries shrink: a last token that reads values turned
// like keys hardly sees the first one.
TEST(HandPass, ValuesTurnedLikeKeysTakeTheTablesOfKeys) {
  const Subject subject("xpos(scale=1)");
  make_scores_equal(subject);
  const auto last = [&](const Tensor& ids, bool values_turned) {
    const Variable logits = hand_pass(*subject.model, ids.view(), {.values_turned = values_turned});
    const std::int64_t words = logits.shape()[2];
    const float* from = logits.value().data<float>() + 15 * words;
    return std::vector<float>(from, from + words);
  };
  Tensor changed = converted(subject.ids.view(), DType::int64);
  changed.data<std::int64_t>()[0] = (changed.data<std::int64_t>()[0] + 1) % 16;
  const auto moved = [&](bool values_turned) {
    const std::vector<float> a = last(subject.ids, values_turned), b = last(changed, values_turned);
    float largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
  };
  EXPECT_GT(moved(false), 1e-3F);
  EXPECT_LT(moved(true), 1e-5F);
}

double change_of(const Subject& subject, const std::string& name) {
  const FaultLogits logits = fault(name).run(subject.view());
  return largest_difference(logits.right, logits.wrong);
}

TEST(PositionFaults, EachChangesLogitsUnderRotaryButThePadding) {
  const Subject subject("rotary");
  for (const PositionFault& one : position_faults()) {
    ASSERT_EQ(one.absent(subject.view()), nullptr) << one.name;
    if (std::string(one.name) == "padding counted") {
      EXPECT_LT(change_of(subject, one.name), 1e-4);
    } else {
      EXPECT_GT(change_of(subject, one.name), 1e-3) << one.name;
    }
  }
}

TEST(PositionFaults, CountedPaddingShowsUnderAbsoluteSchemesOnly) {
  for (const char* scheme : {"sinusoidal", "learned"}) {
    EXPECT_GT(change_of(Subject(scheme), "padding counted"), 1e-2) << scheme;
  }
  for (const char* scheme : {"rotary", "alibi", "t5", "clamped"}) {
    EXPECT_LT(change_of(Subject(scheme), "padding counted"), 1e-4) << scheme;
  }
}

TEST(PositionFaults, SchemesThatTurnNothingHaveNoPlaceForTurns) {
  const Subject alibi("alibi"), none("none"), sinusoidal("sinusoidal");
  for (const char* name : {"pairing swapped", "values turned", "model's width"}) {
    EXPECT_STREQ(fault(name).absent(alibi.view()), "turns nothing");
  }
  EXPECT_EQ(fault("steps from 0").absent(alibi.view()), nullptr);
  EXPECT_NE(fault("steps from 0").absent(none.view()), nullptr);
  EXPECT_NE(fault("keys from 0").absent(sinusoidal.view()), nullptr);
  EXPECT_EQ(fault("diagonal masked").absent(none.view()), nullptr);
}

// Frequencies by the model's width are those of a head that is as wide.
TEST(PositionFaults, OneHeadAsWideAsTheModelHasTheModelsFrequencies) {
  PositionFaultsOptions options = tiny();
  options.heads = 1;
  const ExtrapolationOptions sizes = fault_sizes(options);
  const auto task = fault_task(options);
  const auto model = first_network(sizes, *task, "rotary", 1);
  const Tensor ids = task->for_test(1, 0, 2, 16).ids;
  const NoGrad off;
  const FaultLogits logits =
      fault("model's width")
          .run({.model = *model, .facts = contestants(sizes).front().facts, .ids = ids});
  EXPECT_LT(largest_difference(logits.right, logits.wrong), 1e-4);
}

TEST(PositionFaults, TheStudyTellsWhatCostsAndItsControlFails) {
  PositionFaultsOptions options = tiny();
  options.steps = 250;
  options.rate = 1e-2;
  const StudyResult result = study_position_faults(options);
  EXPECT_TRUE(result.complete);
  const StudyTable& rows = table(result, "rows");
  ASSERT_EQ(rows.rows.size(), position_faults().size());
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    const std::string name = cell<std::string>(rows, row, "fault");
    if (name == "padding counted") {
      EXPECT_EQ(cell<std::string>(rows, row, "verdict"), "changes nothing");
    } else if (name == "steps from 0" || name == "diagonal masked") {
      EXPECT_EQ(cell<std::string>(rows, row, "verdict"), "costs") << name;
      EXPECT_GT(cell<double>(rows, row, "cost"), 0.01) << name;
    }
  }
  ASSERT_EQ(result.controls.size(), 1u);
  EXPECT_TRUE(result.controls[0].failed) << result.controls[0].figures;
  const std::string text = study_text(result);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(study_svg(result), HasSubstr("</svg>"));
  std::ostringstream json;
  write_study_json(json, result);
  EXPECT_THAT(json.str(), HasSubstr("hand_pass_difference"));
}

TEST(PositionFaults, AnInterruptLeavesWhatWasMeasured) {
  PositionFaultsOptions options = tiny();
  const StudyResult result = study_position_faults(options, {.stopped = [] { return true; }});
  EXPECT_FALSE(result.complete);
  EXPECT_TRUE(result.controls.empty());
  EXPECT_THAT(study_text(result), HasSubstr("Stopped early"));
}

TEST(PositionFaults, BadOptionsAreRefused) {
  const auto refused = [](auto change, const char* message) {
    PositionFaultsOptions options = tiny();
    change(options);
    EXPECT_THAT([&] { study_position_faults(options); },
                ThrowsMessage<InvalidArgument>(HasSubstr(message)));
  };
  refused([](PositionFaultsOptions& o) { o.scheme = "rotray"; }, "rotary");
  refused([](PositionFaultsOptions& o) { o.scheme = "rotary-yarn"; }, "take rotary");
  refused([](PositionFaultsOptions& o) { o.tokens = 4; }, "tokens");
  refused([](PositionFaultsOptions& o) { o.steps = 0; }, "steps");
  refused([](PositionFaultsOptions& o) { o.seeds = 0; }, "seeds");
  refused([](PositionFaultsOptions& o) { o.rate = -1; }, "rate");
  refused([](PositionFaultsOptions& o) { o.test_rows = 0; }, "test rows");
}

}  // namespace
}  // namespace volvelle
