// `volvelle check` as a reader types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "support/captured_run.h"
#include "volvelle/attention/simd.h"
#include "volvelle/check/attention_properties.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;

TEST(CheckProgram, AloneListsTheSubjects) {
  const CapturedRun run = captured_run({"check"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("volvelle check attention"));
  EXPECT_THAT(captured_run({"check", "--help"}).out, HasSubstr("Examples"));
}

TEST(CheckProgram, PrintsATableThatFitsThePageAndHoldsEveryProperty) {
  const CapturedRun run = captured_run({"check", "attention"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  for (const PropertyEntry& entry : attention_properties()) {
    EXPECT_THAT(run.out, HasSubstr("\n  " + entry.name + ' '));
    EXPECT_THAT(run.err, HasSubstr("] " + entry.name + '\n'));
    for (const std::string& control : entry.controls) EXPECT_THAT(run.out, HasSubstr(control));
  }
  EXPECT_THAT(run.out, HasSubstr("properties hold and"));
  EXPECT_THAT(run.out, HasSubstr("; composed."));
}

TEST(CheckProgram, JsonHasOneRowPerPropertyControlAndRoute) {
  const CapturedRun run = captured_run({"check", "attention", "--json", "--seed", "5"});
  EXPECT_EQ(run.exit_code, 0);
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["holds"], true);
  EXPECT_EQ(document["complete"], true);
  std::size_t controls = 0;
  for (const PropertyEntry& entry : attention_properties()) controls += entry.controls.size();
  EXPECT_TRUE(document["refused"].empty());
  EXPECT_EQ(document["rows"].size(), controls * (simd_targets().size() + 1));
  for (const auto& row : document["rows"]) {
    EXPECT_EQ(row.size(), 8u) << row;
    for (const char* key : {"property", "path", "simd", "control", "verdict"}) {
      EXPECT_TRUE(row[key].is_string()) << row;
    }
    EXPECT_EQ(row["verdict"], "holds");
    for (const char* key : {"error", "tolerance", "control_error"}) {
      ASSERT_TRUE(row[key].is_number()) << row;
      EXPECT_TRUE(std::isfinite(row[key].get<double>())) << row;
    }
    EXPECT_LE(row["error"], row["tolerance"]);
    EXPECT_GT(row["control_error"], row["tolerance"]);
  }
}

TEST(CheckProgram, FiltersKeepOneRoute) {
  const std::string simd = simd_targets().back();
  const auto rows = [](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"check", "attention", "--property", "padding", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return nlohmann::json::parse(captured_run(arguments).out)["rows"];
  };
  const auto forced = rows({"--simd", simd, "--threads", "2"});
  ASSERT_EQ(forced.size(), 2u);
  EXPECT_EQ(forced[0]["property"], "padding");
  EXPECT_EQ(forced[0]["path"], "fused");
  EXPECT_EQ(forced[0]["simd"], simd);
  EXPECT_NE(forced[0]["control"], forced[1]["control"]);
  const auto composed = rows({"--path", "composed"});
  ASSERT_EQ(composed.size(), 2u);
  EXPECT_EQ(composed[0]["path"], "composed");
  EXPECT_EQ(rows({"--path", "fused"}).size(), 2 * simd_targets().size());
}

TEST(CheckProgram, ListExplainsEachPropertyInASentence) {
  const CapturedRun run = captured_run({"check", "attention", "--list"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  const auto document =
      nlohmann::json::parse(captured_run({"check", "attention", "--list", "--json"}).out);
  std::set<std::string> names;
  for (const auto& entry : document["properties"]) {
    const auto name = entry["name"].get<std::string>();
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_THAT(run.out, HasSubstr(name + '\n'));
    EXPECT_EQ(entry["sentence"].get<std::string>().back(), '.');
    EXPECT_GE(entry["controls"].size(), 1u);
  }
  EXPECT_EQ(names.size(), attention_properties().size());
  const CapturedRun one = captured_run({"check", "attention", "--list", "--property", "sinks"});
  EXPECT_THAT(one.out, HasSubstr("sink dropped"));
  EXPECT_LT(one.out.size(), 300u);
}

TEST(CheckProgram, WrongUsageExitsWithTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls{
      {{"nothing"}, "no check is called"},
      {{"atention"}, "did you mean 'attention'?"},
      {{"--json"}, "name the check before its options"},
      {{"attention", "--property", "windws"}, "did you mean 'windows'?"},
      {{"attention", "--path", "oracle"}, "--path takes"},
      {{"attention", "--simd", "mmx"}, "choose one of"},
      {{"attention", "--path", "composed", "--simd", "best"}, "--simd"},
      {{"attention", "--threads", "0"}, "--threads"},
      {{"attention", "--seed", "-1"}, "--seed"},
      {{"attention", "--list", "--seed", "1"}, "--list"},
      {{"attention", "extra"}, "one argument too many"},
      {{"attention", "--proprty", "windows"}, "did you mean '--property'?"},
  };
  for (const auto& [options, says] : calls) {
    std::vector<std::string> arguments{"check"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CapturedRun run = captured_run(arguments);
    EXPECT_EQ(run.exit_code, 2) << options.back();
    EXPECT_EQ(run.out, "") << options.back();
    EXPECT_THAT(run.err, HasSubstr(says));
  }
}

TEST(CheckProgram, AnInterruptPrintsWhatWasMeasured) {
  const CapturedRun run = interrupted_run({"check", "attention", "--json"}, SIGINT, 0.3);
  EXPECT_EQ(run.exit_code, 130);
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["complete"], false);
  for (const auto& row : document["rows"]) EXPECT_EQ(row["verdict"], "holds");
}

}  // namespace
}  // namespace volvelle::testing
