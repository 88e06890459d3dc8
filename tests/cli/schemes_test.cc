#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/captured_run.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string printed(const std::vector<std::string>& arguments) {
  const CapturedRun run = captured_run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

std::string refused(const std::vector<std::string>& arguments) {
  const CapturedRun run = captured_run(arguments);
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_EQ(run.out, "");
  return run.err;
}

void expect_page(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Schemes, TableHasALineForEach) {
  const std::string text = printed({"schemes"});
  expect_page(text);
  for (const char* part :
       {"a shift leaves", "changes", "positions", "parameters", "cost per token", "a cache holds",
        "embeddings: adds vectors", "attention: turns q and k"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const json all = json::parse(printed({"schemes", "--json"}));
  ASSERT_EQ(all["schemes"].size(), position_schemes().size());
  for (std::size_t i = 0; i < position_schemes().size(); ++i) {
    EXPECT_THAT(all["schemes"][i]["scheme"].get<std::string>(),
                ::testing::StartsWith(position_schemes()[i].name));
    EXPECT_THAT(text, HasSubstr(std::string("\n  ") + position_schemes()[i].name));
  }
}

// A model that some schemes do not fit leaves the others in the table.
TEST(Schemes, TableSaysWhichDoNotFitTheModelAndWhy) {
  const ScratchFolder folder;
  const std::vector<std::vector<std::string>> models{{"--head-width", "5"},
                                                     {"--width", "60", "--heads", "4"}};
  for (const std::vector<std::string>& model : models) {
    const auto run = [&](const std::vector<std::string>& more) {
      std::vector<std::string> line{"schemes"};
      line.insert(line.end(), model.begin(), model.end());
      line.insert(line.end(), more.begin(), more.end());
      return printed(line);
    };
    const json all = json::parse(run({"--json"}));
    ASSERT_EQ(all["schemes"].size(), position_schemes().size());
    for (const json& row : all["schemes"]) {
      const std::string name = row["scheme"];
      const bool turns = name == "rotary" || name == "xpos";
      EXPECT_EQ(row["kind"].is_null(), turns) << name;
      EXPECT_EQ(row["parameters"].is_null(), turns) << name;
      EXPECT_FALSE(row["sentence"].is_null()) << name;
      EXPECT_EQ(row["fits"], !turns) << name;
      ASSERT_EQ(row["refused"].is_string(), turns) << name;
      if (!turns) continue;
      EXPECT_THAT(row["refused"].get<std::string>(), HasSubstr("must be an even"));
    }
    const std::string text = run({});
    expect_page(text);
    EXPECT_THAT(text, HasSubstr("fits"));
    for (const char* name : {"rotary", "xpos"}) {
      const std::size_t begin = text.find(std::string("  - ") + name + ": ");
      ASSERT_NE(begin, std::string::npos) << text;
      EXPECT_NE(text.find("even", begin), std::string::npos);
    }
    for (const PositionEntry& entry : position_schemes()) {
      EXPECT_THAT(text, HasSubstr(std::string("\n  ") + entry.name));
    }
    const std::string path = folder / (model[1] + ".csv");
    run({"--csv", path});
    EXPECT_THAT(contents(path),
                HasSubstr("\nrotary,,,,,,,,queries and keys turn by their positions,false,"));
    EXPECT_THAT(contents(path), HasSubstr("must be an even"));
    EXPECT_THAT(contents(path), HasSubstr(",true,\n"));
  }
  EXPECT_EQ(printed({"schemes"}).find("fits"), std::string::npos);
}

TEST(Schemes, EachPrintsItsFactsAndSettingsOnThePage) {
  for (const PositionEntry& entry : position_schemes()) {
    std::vector<std::string> line{"schemes", entry.name};
    if (line[1] == "learned") line.insert(line.end(), {"--rows", "16"});
    const std::string text = printed(line);
    line.emplace_back("--json");  // where no two members may have one name
    EXPECT_EQ(json::parse(printed(line))["sentence"], entry.sentence);
    expect_page(text);
    for (const char* part : {"a shift leaves", "cache holds", entry.source, entry.sentence}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
    const std::string help = printed({"schemes", entry.name, "--help"});
    for (const PositionKey& key : entry.keys) {
      EXPECT_THAT(help, HasSubstr(std::string("--") + key.name));
    }
  }
}

TEST(Schemes, RotaryPrintsTheWavelengthsOfTheDocument) {
  const std::string text = printed({"schemes", "rotary", "--head-width", "8", "--base", "10000"});
  for (const char* line : {"0     0, 4     1           6.3      325.79            7",
                           "1     1, 5     0.1        62.8       32.58           63",
                           "2     2, 6     0.01      628.3        3.26          629",
                           "3     3, 7     0.001    6283.2        0.33         6284"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(Schemes, RotaryShowsWhatAScalingDoesToEachPair) {
  const json found =
      json::parse(printed({"schemes", "rotary", "--head-width", "128", "--base", "1e6", "--scaling",
                           "yarn", "--factor", "4", "--original", "32768", "--json"}));
  EXPECT_EQ(found["scheme"], "rotary(base=1e6, scaling=yarn, factor=4, original=32768)");
  EXPECT_EQ(found["pairs"][23]["change"], 1.0);
  EXPECT_NEAR(found["pairs"][40]["change"].get<double>(), 0.25, 1e-12);
  EXPECT_EQ(found["length"], 131072);
  EXPECT_NEAR(found["attention_factor"].get<double>(), 1.1386, 1e-4);
  const json longrope = json::parse(
      printed({"schemes", "rotary", "--head-width", "4", "--scaling", "longrope", "--original", "4",
               "--max", "16", "--short", "1,1", "--long", "2,4", "--json"}));
  EXPECT_EQ(longrope["pairs"][1]["change"], 0.25);
  const json dynamic =
      json::parse(printed({"schemes", "rotary", "--head-width", "128", "--scaling", "dynamic",
                           "--factor", "2", "--original", "2048", "--length", "3000", "--json"}));
  EXPECT_EQ(std::round(dynamic["base_after_scaling"].get<double>()), 19499);
  EXPECT_EQ(dynamic["shift_leaves"], "all up to 2048");
}

TEST(Schemes, SinusoidalPrintsItsWavelengths) {
  const std::string text = printed({"schemes", "sinusoidal", "--width", "16"});
  for (const char* wavelength :
       {" 6.3 ", " 19.9 ", " 62.8 ", " 198.7 ", " 628.3 ", " 1986.9 ", " 6283.2 ", " 19869.2 "}) {
    EXPECT_THAT(text, HasSubstr(wavelength));
  }
}

TEST(Schemes, AlibiPrintsSlopesAndT5ItsBuckets) {
  const json slopes =
      json::parse(printed({"schemes", "alibi", "--heads", "6", "--head-width", "8", "--json"}));
  const double wanted[] = {1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256, 1.0 / 2, 1.0 / 8};
  EXPECT_EQ(slopes["heads"], 6);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(slopes["slopes"][i]["slope"], wanted[i]);
  const json two_way = json::parse(printed({"schemes", "t5", "--two-way", "--json"}));
  EXPECT_EQ(two_way["buckets"][8]["offsets"], "-8 to -11");
  EXPECT_EQ(two_way["buckets"][15]["offsets"], "-91 and beyond");
  EXPECT_EQ(two_way["buckets"][16]["offsets"], "none");
  EXPECT_EQ(two_way["buckets"][30]["offsets"], "+64 to +90");
  const json one_way = json::parse(printed({"schemes", "t5", "--json"}));
  EXPECT_EQ(one_way["buckets"][0]["offsets"], "0, and all later keys");
  EXPECT_EQ(one_way["buckets"][31]["offsets"], "-113 and beyond");
  EXPECT_EQ(one_way["parameters"], 128);
}

TEST(Schemes, WritesPicturesAndTables) {
  const ScratchFolder folder;
  for (const std::string scheme : {"rotary", "xpos", "sinusoidal", "alibi", "t5"}) {
    const std::string plot = folder / (scheme + ".svg"), csv = folder / (scheme + ".csv");
    printed({"schemes", scheme, "--plot", plot, "--csv", csv});
    const std::string svg = contents(plot);
    EXPECT_EQ(svg.find("<svg xmlns="), 0U) << scheme;
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_FALSE(contents(csv).empty());
    EXPECT_EQ(svg.find("<circle") != std::string::npos, true);
    EXPECT_THAT(captured_run({"schemes", scheme, "--plot", plot}).err, HasSubstr("exists"));
  }
  printed({"schemes", "--csv", folder / "all.csv"});
  EXPECT_THAT(contents(folder / "all.csv"), ::testing::StartsWith("scheme,kind,"));
}

TEST(Schemes, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refused({"schemes", "rotory"}), HasSubstr("did you mean 'rotary'?"));
  EXPECT_THAT(refused({"schemes", "rotary", "--head-width", "7"}), HasSubstr("must be an even"));
  EXPECT_THAT(refused({"schemes", "rotary", "--head-width", "8", "--partial", "10"}),
              HasSubstr("a head has 8"));
  EXPECT_THAT(refused({"schemes", "rotary", "--scaling", "yarn"}), HasSubstr("needs factor"));
  EXPECT_THAT(refused({"schemes", "rotary", "--factor", "2"}), HasSubstr("does not read factor"));
  EXPECT_THAT(refused({"schemes", "rotary", "--bas", "2"}), HasSubstr("did you mean '--base'?"));
  EXPECT_THAT(refused({"schemes", "rotary", "--base", "x)"}),
              HasSubstr("expected the end, found ')'"));
  EXPECT_THAT(refused({"schemes", "rotary", "--width", "10"}), HasSubstr("not a multiple of 4"));
  EXPECT_THAT(refused({"schemes", "rotary", "--heads", "0"}), HasSubstr("--heads takes 1 or more"));
  EXPECT_THAT(refused({"schemes", "rotary", "--length", "0"}), HasSubstr("--length takes 1 to"));
  EXPECT_THAT(refused({"schemes", "learned"}), HasSubstr("rows is missing"));
  EXPECT_THAT(refused({"schemes", "none", "--plot", "x.svg"}), HasSubstr("none has no chart"));
  EXPECT_THAT(refused({"schemes", "none", "--csv", "x.csv"}), HasSubstr("none has no table"));
  EXPECT_THAT(refused({"schemes", "--force"}), HasSubstr("--force needs a file"));
  EXPECT_THAT(refused({"schemes", "--width", "10"}), HasSubstr("not a multiple of 4"));
  EXPECT_THAT(refused({"schemes", "--plot", "x.svg"}), HasSubstr("unknown option"));
  EXPECT_THAT(refused({"schemes", "xpos", "--length", "100000"}), HasSubstr("beyond the last"));
}

}  // namespace
}  // namespace volvelle::testing
