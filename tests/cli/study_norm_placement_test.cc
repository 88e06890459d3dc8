// `volvelle study norm-placement` as a reader types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/captured_run.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;

// Small enough for every run of the tests.
std::vector<std::string> small(std::vector<std::string> further = {}) {
  std::vector<std::string> arguments{"study",          "norm-placement",
                                     "--depths",       "2,4",
                                     "--seeds",        "2",
                                     "--width",        "16",
                                     "--heads",        "2",
                                     "--feed-forward", "32",
                                     "--batch",        "2",
                                     "--tokens",       "4",
                                     "--classes",      "3"};
  arguments.insert(arguments.end(), further.begin(), further.end());
  return arguments;
}

TEST(StudyNormPlacementProgram, JsonHasExactlyTheRowsThatWereAskedFor) {
  const CapturedRun run =
      captured_run(small({"--placements", "pre,none", "--norm", "layer,rms", "--json"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json.at("rows").size(), 8u);
  for (const auto& row : json.at("rows")) {
    EXPECT_EQ(row.size(), 9u);
    EXPECT_EQ(row.at("seeds"), 2);
    EXPECT_EQ(row.at("ratios").size(), 2u);
    EXPECT_EQ(row.at("layer_norms").size(), row.at("depth").get<std::size_t>());
    EXPECT_LE(row.at("minimum").get<double>(), row.at("median").get<double>());
    EXPECT_GE(row.at("maximum").get<double>(), row.at("median").get<double>());
  }
  const auto& control = json.at("control");
  EXPECT_EQ(control.at("failed"), true);
  EXPECT_THAT(control.at("check").get<std::string>(), HasSubstr("the same in double"));
  ASSERT_EQ(control.at("rows").size(), 4u);
  EXPECT_EQ(control.at("rows")[0].at("depth"), 2);
  EXPECT_EQ(control.at("rows")[0].at("seeds"), 1);
  EXPECT_EQ(json.at("complete"), true);
}

TEST(StudyNormPlacementProgram, TextKeepsToThePageAndEndsWithItsLimits) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--measure", "stream"}, {"--per-layer"}}) {
    const CapturedRun run = captured_run(small(options));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    for (const char* text : {"last layer over first", "Control", "It fails it", "Reading",
                             "At initialization only", "What would change the call"}) {
      EXPECT_THAT(run.out, HasSubstr(text));
    }
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(StudyNormPlacementProgram, ListPrintsTheFormulas) {
  const CapturedRun run = captured_run({"study", "norm-placement", "--list"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("norm(x + attention(x)); norm(x + feed_forward(x))"));
  EXPECT_THAT(run.out, HasSubstr("deepnorm"));
  const CapturedRun with_more = captured_run({"study", "norm-placement", "--list", "--seeds", "3"});
  EXPECT_EQ(with_more.exit_code, 2);
  EXPECT_THAT(with_more.err, HasSubstr("--list measures nothing"));
}

TEST(StudyNormPlacementProgram, EveryOptionReachesTheStudy) {
  const auto setup_with = [](std::vector<std::string> options) {
    options.emplace_back("--json");
    const CapturedRun run = captured_run(small(std::move(options)));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return nlohmann::json::parse(run.out).dump();
  };
  const std::string plain = setup_with({});
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--init", "xavier"},
                                                  {"--init", "depth-scaled"},
                                                  {"--init", "normal"},
                                                  {"--stream", "numpy"},
                                                  {"--stream", "philox"},
                                                  {"--seed", "7"},
                                                  {"--activation", "gelu-tanh"},
                                                  {"--loss", "degenerate"},
                                                  {"--final-norm", "yes"},
                                                  {"--final-norm", "no"},
                                                  {"--measure", "stream"},
                                                  {"--parameter", "self_attn.out_proj.weight"},
                                                  {"--norm", "rms"},
                                                  {"--placements", "sandwich,deepnorm"},
                                                  {"--per-layer"}}) {
    EXPECT_NE(setup_with(options), plain) << options.front() << ' ' << options.back();
  }
}

TEST(StudyNormPlacementProgram, BadInputIsNamedWithARemedy) {
  struct Case {
    std::vector<std::string> options;
    int exit_code;
    const char* message;
  };
  for (const Case& one : {
           Case{{"--heads", "5"}, 2, "width=64 is not a multiple of heads=5"},
           Case{{"--placements", "pots"}, 2, "did you mean 'post'?"},
           Case{{"--placements", "post,post"}, 2, "placement post was given twice"},
           Case{{"--seeds", "0"}, 2, "seeds=0 must be positive"},
           Case{{"--seed", "-1"}, 2, "--seed must not be negative"},
           Case{{"--norm", "rsm"}, 2, "did you mean 'rms'?"},
           Case{{"--init", "torhc"}, 2, "torch"},
           Case{{"--depths", "12,"}, 2, "--depths"},
           Case{{"--depths", "-3"}, 2, "depth=-3 must be positive"},
           Case{{"--parameter", "linear3.weight"}, 2, "did you mean 'linear1.weight'?"},
           Case{{"--parameter", "linear1.weight", "--measure", "stream"},
                2,
                "--parameter goes with --measure parameter"},
           Case{{"--width", "40000000", "--heads", "1"}, 2, "GiB"},
           Case{{"--depths", "1000000000000"}, 2, "GiB"},
       }) {
    std::vector<std::string> arguments{"study", "norm-placement"};
    arguments.insert(arguments.end(), one.options.begin(), one.options.end());
    const CapturedRun run = captured_run(arguments);
    EXPECT_EQ(run.exit_code, one.exit_code) << one.message;
    EXPECT_EQ(run.out, "") << one.message;
    EXPECT_THAT(run.err, HasSubstr(one.message));
  }
}

}  // namespace
}  // namespace volvelle::testing
