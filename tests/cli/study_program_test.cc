// `volvelle study` as a reader types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/captured_run.h"
#include "volvelle/studies/study.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(StudyProgram, AloneListsEveryStudyWithItsSentence) {
  const CapturedRun run = captured_run({"study"});
  EXPECT_EQ(run.exit_code, 0);
  std::string joined;
  std::istringstream words(run.out);
  for (std::string word; words >> word;) joined += word + ' ';
  for (const StudyEntry& entry : studies()) {
    EXPECT_THAT(joined, HasSubstr(std::string("volvelle study ") + entry.name + ' ' +
                                  entry.sentence + ' '));
  }
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(StudyProgram, EveryStudyHasHelpWithTheSharedOptions) {
  for (const StudyEntry& entry : studies()) {
    const CapturedRun run = captured_run({"study", entry.name, "--help"});
    EXPECT_EQ(run.exit_code, 0) << entry.name;
    for (const char* option : {"--json", "--csv FILE", "--plot FILE", "--threads N", "--force"}) {
      EXPECT_THAT(run.out, HasSubstr(option)) << entry.name;
    }
    EXPECT_THAT(run.out, HasSubstr(entry.sentence));
  }
}

TEST(StudyProgram, PathFactorsPrintsTheDocumentsFiguresOnThePage) {
  const CapturedRun run = captured_run({"study", "path-factors"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  for (const char* text : {"0.080", "1.608", "0.616", "Control", "not a model of a real network"}) {
    EXPECT_THAT(run.out, HasSubstr(text));
  }
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(StudyProgram, PathFactorsJsonHasOneRowAFactor) {
  const CapturedRun run =
      captured_run({"study", "path-factors", "--factor", "0.5,2", "--layers", "3", "--json"});
  EXPECT_EQ(run.exit_code, 0);
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["study"], "path-factors");
  EXPECT_EQ(json["layers"], 3);
  EXPECT_EQ(json["rows"], nlohmann::json::parse(R"([
      {"factor": 0.5, "left": 0.125, "changed": true, "layers_to_two": 1},
      {"factor": 2, "left": 8, "changed": true, "layers_to_two": 1}])"));
  EXPECT_EQ(json["control"]["failed"], true);
  EXPECT_EQ(json["complete"], true);
}

TEST(StudyProgram, StreamGrowthJsonHasEveryLayerTwice) {
  const CapturedRun run = captured_run(
      {"study", "stream-growth", "--layers", "3", "--width", "32", "--stream", "torch", "--json"});
  EXPECT_EQ(run.exit_code, 0);
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["stream"], "torch");
  EXPECT_EQ(json["width"], 32);
  ASSERT_EQ(json["rows"].size(), 3u);
  ASSERT_EQ(json["stacks"].size(), 3u);
  for (const auto& row : json["rows"]) {
    EXPECT_EQ(row.size(), 4u);
    for (const char* key : {"layer", "length", "share", "root"}) EXPECT_TRUE(row[key].is_number());
  }
  for (const auto& row : json["stacks"]) {
    EXPECT_EQ(row.size(), 7u);
    for (const char* stack : {"pre", "post"}) {
      for (const char* figure : {"_length", "_attention_share", "_feed_forward_share"}) {
        EXPECT_TRUE(row[std::string(stack) + figure].is_number()) << row;
      }
    }
  }
  EXPECT_EQ(json["control"]["failed"], true);
}

TEST(StudyProgram, SaturationJsonHasARowForEachWidthAndDivisor) {
  const CapturedRun run = captured_run({"study", "saturation", "--head-widths", "4,16", "--draws",
                                        "3", "--tokens", "8", "--seed", "2", "--json"});
  EXPECT_EQ(run.exit_code, 0);
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["rows"].size(), 8u);
  for (const auto& row : json["rows"]) {
    for (const char* key : {"head_width", "scale", "score_spread", "entropy", "entropy_share",
                            "largest_weight", "gradient", "query_gradient", "draws"}) {
      EXPECT_TRUE(row[key].is_number()) << key;
    }
  }
  EXPECT_EQ(json["rows"][5]["divisor"], "root_of_width");
  EXPECT_EQ(json["rows"][5]["scale"], 0.25);
  EXPECT_EQ(json["seed"], 2);
}

// Of two keys the larger weight is above a half whatever the scores: nothing is shown there.
TEST(StudyProgram, AControlThatDoesNotFailIsLoudAndExitsWithThree) {
  const std::vector<std::string> call{"study", "saturation", "--tokens", "2", "--draws", "5"};
  const CapturedRun text = captured_run(call);
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_LT(text.out.find("!!! THE CONTROL DID NOT FAIL"), text.out.find("Set-up"));
  EXPECT_THAT(text.out, HasSubstr("IT DID NOT FAIL IT"));
  std::vector<std::string> with_json = call;
  with_json.push_back("--json");
  const CapturedRun json = captured_run(with_json);
  EXPECT_EQ(json.exit_code, 3);
  EXPECT_EQ(nlohmann::json::parse(json.out)["controls_failed"], false);
}

// It waits until what was measured is printed, and says how far it is on the way.
TEST(StudyProgram, AnInterruptPrintsWhatWasMeasured) {
  const CapturedRun run = interrupted_run(
      {"study", "saturation", "--draws", "1000000", "--head-widths", "4,512", "--json"}, SIGINT,
      5.6);
  EXPECT_EQ(run.exit_code, 130);
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["complete"], false);
  EXPECT_TRUE(json["control"].is_null());
  ASSERT_GE(json["rows"].size(), 4u);
  EXPECT_GT(json["rows"][0]["draws"], 0);
  EXPECT_LT(json["rows"].back()["draws"], 1000000);
  EXPECT_THAT(run.err, HasSubstr("%  head width "));
  EXPECT_EQ(run.err.find('\r'), std::string::npos);  // no terminal: plain lines
}

// A unit of work may be long: the second one does not wait for its end.
TEST(StudyProgram, ASecondInterruptEndsItAtOnce) {
  const CapturedRun run = interrupted_run(
      {"study", "saturation", "--tokens", "4096", "--head-widths", "4096"}, SIGINT, 0.7, 2);
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
}

TEST(StudyProgram, WritesTableAndPictureAndReplacesOnlyWhenForced) {
  const ScratchFolder folder;
  const std::vector<std::string> call{"study",          "path-factors", "--csv",
                                      folder / "f.csv", "--plot",       folder / "f.svg"};
  const CapturedRun run = captured_run(call);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("wrote " + (folder / "f.csv")));
  EXPECT_EQ(contents(folder / "f.csv").find("factor,left,changed,layers_to_two\n0.9,0.0797"), 0u);
  EXPECT_EQ(contents(folder / "f.svg").find("<svg"), 0u);
  const CapturedRun again = captured_run(call);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_EQ(again.out, "");
  EXPECT_THAT(again.err, HasSubstr("--force"));
  std::vector<std::string> forced = call;
  forced.push_back("--force");
  EXPECT_EQ(captured_run(forced).exit_code, 0);
}

TEST(StudyProgram, WrongUsageExitsWithTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls{
      {{"nothing"}, "no study is called 'nothing'"},
      {{"path-factor"}, "did you mean 'path-factors'?"},
      {{"--json"}, "name the study before its options"},
      {{"path-factors", "--factor", "0.9,x"}, "--factor takes a number, not 'x'"},
      {{"path-factors", "--factor", "-1"}, "above 0"},
      {{"path-factors", "--layers", "0"}, "layers must be"},
      {{"path-factors", "--threads", "0"}, "--threads"},
      {{"path-factors", "--force"}, "--force is for"},
      {{"path-factors", "--csv", "x", "--plot", "x"}, "the same file"},
      {{"path-factors", "--layer", "3"}, "did you mean '--layers'?"},
      {{"path-factors", "more"}, "one argument too many"},
      {{"stream-growth", "--stream", "numpi"}, "did you mean 'numpy'?"},
      {{"stream-growth", "--seed", "-1"}, "--seed must not be negative"},
      {{"stream-growth", "--width", "1"}, "width must be"},
      {{"saturation", "--head-widths", "2,0"}, "at least 1"},
      {{"saturation", "--head-widths", "2,x"}, "a whole number"},
  };
  for (const auto& [options, says] : calls) {
    std::vector<std::string> arguments{"study"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CapturedRun run = captured_run(arguments);
    EXPECT_EQ(run.exit_code, 2) << says;
    EXPECT_EQ(run.out, "") << says;
    EXPECT_THAT(run.err, HasSubstr(says));
  }
  // The help to look at is the study's own.
  EXPECT_THAT(captured_run({"study", "path-factors", "--layer", "3"}).err,
              HasSubstr("`volvelle study path-factors --help`"));
  EXPECT_THAT(captured_run({"study", "nothing"}).err, HasSubstr("`volvelle study --help`"));
  EXPECT_EQ(captured_run({"study", "path-factors", "--csv", "/no/such/folder/x"}).exit_code, 1);
}

}  // namespace
}  // namespace volvelle::testing
