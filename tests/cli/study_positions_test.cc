// `volvelle study extrapolation` and `position-faults` as they are typed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/captured_run.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kTiny{"--steps",     "4",       "--seeds", "1",        "--width",
                                     "16",          "--heads", "2",       "--layers", "1",
                                     "--test-rows", "32",      "--batch", "2"};

CapturedRun tiny_run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "study");
  arguments.insert(arguments.end(), kTiny.begin(), kTiny.end());
  return captured_run(arguments);
}

TEST(StudyPositionsProgram, SchemesMayHaveSettingsWithCommas) {
  const CapturedRun run =
      tiny_run({"extrapolation", "--schemes", "none, t5(buckets=8, max=10),rotary(base=500)",
                "--train", "16", "--rates", "0.003", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["schemes"].size(), 3u);
  EXPECT_EQ(json["schemes"][1]["scheme"], "t5(buckets=8, max=10)");
  // Tests keep their multiples of the training length.
  EXPECT_EQ(json["bands"].size(), 3u * 4u);
  EXPECT_TRUE(json["rows"][0].contains("loss_4-8x"));
}

TEST(StudyPositionsProgram, ATextIsLearnedByItsBytes) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "one " + std::to_string(i % 13) + "\n";
  const std::string path = write_file(folder / "numbers.txt", text);
  const CapturedRun run = tiny_run({"extrapolation", "--schemes", "none", "--train", "16",
                                    "--rates", "0.003", "--text", path, "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["rows"][0]["task"], "text");
  EXPECT_TRUE(json["rows"][0].contains("bytes_right"));
  const CapturedRun missing = tiny_run({"extrapolation", "--text", path + ".none"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("numbers.txt.none"));
}

TEST(StudyPositionsProgram, WhatIsWrongIsSaid) {
  const auto refused = [](std::vector<std::string> arguments, const char* message) {
    arguments.insert(arguments.begin(), "study");
    const CapturedRun run = captured_run(arguments);
    EXPECT_EQ(run.exit_code, 2) << message;
    EXPECT_THAT(run.err, HasSubstr(message));
  };
  refused({"extrapolation", "--schemes", "none,,alibi"}, "comma between");
  refused({"extrapolation", "--schemes", "rotray"}, "rotary");
  refused({"extrapolation", "--schemes", "t5(max=1000)"}, "at most");
  refused({"extrapolation", "--task", "languages"}, "language");
  refused({"extrapolation", "--test", "32"}, "test length");
  refused({"position-faults", "--scheme", "alibbi"}, "alibi");
  refused({"position-faults", "--seed", "-1"}, "negative");
}

TEST(StudyPositionsProgram, PositionFaultsPrintsEveryMistake) {
  const CapturedRun run =
      tiny_run({"position-faults", "--scheme", "sinusoidal", "--tokens", "16", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["rows"].size(), 8u);
  EXPECT_EQ(json["rows"][2]["verdict"], "turns nothing");
  EXPECT_TRUE(json["controls_failed"]);
}

}  // namespace
}  // namespace volvelle::testing
