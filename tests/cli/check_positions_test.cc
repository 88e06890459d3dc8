// `volvelle check positions` as a reader types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "support/captured_run.h"
#include "volvelle/check/position_properties.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CheckPositions, IsListed) {
  EXPECT_THAT(captured_run({"check"}).out, HasSubstr("volvelle check positions"));
  EXPECT_THAT(captured_run({"check", "positions", "--help"}).out, HasSubstr("--scheme"));
}

TEST(CheckPositions, PrintsATableThatFitsThePage) {
  const CapturedRun run = captured_run({"check", "positions"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(run.out, HasSubstr("Properties of position schemes"));
  for (const PropertyEntry& entry : position_properties()) {
    EXPECT_THAT(run.out, HasSubstr("\n  " + entry.name + ' '));
    EXPECT_THAT(run.err, HasSubstr("] " + entry.name + '\n'));
    for (const std::string& control : entry.controls) EXPECT_THAT(run.out, HasSubstr(control));
  }
  EXPECT_THAT(run.out, HasSubstr("properties hold and"));
  EXPECT_THAT(run.out, HasSubstr(std::to_string(position_settings().size()) + " schemes: none;"));
}

TEST(CheckPositions, FiltersKeepOneSchemeAndOneProperty) {
  const auto rows = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"check", "positions", "--json"});
    const CapturedRun run = captured_run(options);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return nlohmann::json::parse(run.out)["rows"];
  };
  const auto padded = rows({"--scheme", "sinusoidal", "--property", "padding", "--seed", "3"});
  std::set<std::string> schemes;
  for (const auto& row : padded) {
    EXPECT_EQ(row["property"], "padding");
    EXPECT_EQ(row["verdict"], "holds");
    EXPECT_FALSE(row.contains("path"));
    EXPECT_LE(row["error"], row["tolerance"]);
    EXPECT_GT(row["control_error"], row["tolerance"]);
    schemes.insert(row["scheme"].get<std::string>());
  }
  EXPECT_EQ(schemes.size(), 3u);  // each setting of it that is checked
  const auto own = rows({"--scheme", "rotary(base=77)", "--property", "shift", "--threads", "2"});
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0]["scheme"], "rotary(base=77)");
}

TEST(CheckPositions, ListsWhatEachPropertySays) {
  const CapturedRun run = captured_run({"check", "positions", "--list", "--property", "padding"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("Controls: padding seen; padding counted."));
  EXPECT_THAT(run.out, Not(HasSubstr("packing")));
}

TEST(CheckPositions, WrongUsageIsTold) {
  const auto refused = [](std::vector<std::string> options, const std::string& says) {
    options.insert(options.begin(), {"check", "positions"});
    const CapturedRun run = captured_run(options);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(says));
  };
  refused({"--property", "pading"}, "did you mean 'padding'");
  refused({"--scheme", "rotery"}, "did you mean 'rotary'");
  refused({"--scheme", "rotary(partial=10)"}, "10");
  refused({"--scheme", "alibi(base=3)"}, "base");
  refused({"--threads", "0"}, "1 to 1024");
  refused({"--seed", "-1"}, "--seed");
  refused({"--list", "--seed", "4"}, "--list");
}

}  // namespace
}  // namespace volvelle::testing
