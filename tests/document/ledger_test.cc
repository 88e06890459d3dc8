#include "document/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace volvelle::testing {
namespace {

// Figures carry four decimals at most; a value agrees when it rounds to the printed one.
constexpr double kHalfUnit = 0.5e-4 + 1e-9;

void collect_numbers(const nlohmann::json& value, std::vector<double>& numbers) {
  if (value.is_array()) {
    for (const auto& element : value) collect_numbers(element, numbers);
  } else if (value.is_number()) {
    numbers.push_back(value.get<double>());
  } else {
    ADD_FAILURE() << "not a number: " << value.dump();
  }
}

nlohmann::json json_of(const std::string& command) {
  static std::map<std::string, nlohmann::json> known;
  if (const auto found = known.find(command); found != known.end()) return found->second;
  const ProgramRun run = run_command(command);
  EXPECT_EQ(run.exit_code, 0) << command;
  auto json = nlohmann::json::parse(run.standard_output, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << command << " printed\n" << run.standard_output;
  return known[command] = json;
}

TEST(Ledger, EveryFigureOfTheFirstPartIsWhatItsCommandGives) {
  const auto rows = read_ledger();
  ASSERT_GE(rows.size(), 28u);  // P1 to P18 and C1 to C10
  for (const LedgerRow& row : rows) {
    SCOPED_TRACE(row.item + ": " + row.command + " at " + row.key);
    const nlohmann::json json = json_of(row.command);
    const nlohmann::json::json_pointer pointer(row.key);
    if (!json.is_object() || !json.contains(pointer)) {
      ADD_FAILURE() << "no such key";
      continue;
    }
    std::vector<double> numbers;
    collect_numbers(json[pointer], numbers);
    ASSERT_FALSE(row.figures.empty());
    if (numbers.size() != row.figures.size()) {
      ADD_FAILURE() << numbers.size() << " numbers, " << row.figures.size() << " figures";
      continue;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_LE(std::abs(numbers[i] - std::stod(row.figures[i])), kHalfUnit) << numbers[i];
    }
  }
}

TEST(Ledger, HasEachOfThe77PrintedLinesOnce) {
  std::multiset<std::string> items;
  for (const auto& item : ledger_items()) items.insert(item);
  for (int line = 1; line <= 77; ++line) {
    EXPECT_EQ(items.count("P" + std::to_string(line)), 1u) << "P" << line;
  }
  EXPECT_EQ(std::count_if(items.begin(), items.end(), [](const auto& i) { return i[0] == 'P'; }),
            77);
  for (const auto& item : items) EXPECT_EQ(items.count(item), 1u) << item;
}

TEST(Ledger, TheTourShowsEveryFigureOfTheFirstPart) {
  const ProgramRun run = run_command("volvelle tour attention");
  ASSERT_EQ(run.exit_code, 0);
  for (const LedgerRow& row : read_ledger()) {
    for (const std::string& figure : row.figures) {
      if (figure.find('.') == std::string::npos) continue;  // whole numbers are everywhere
      EXPECT_NE(run.standard_output.find(figure), std::string::npos) << row.item << " " << figure;
    }
  }
}

// L1 and L2: a limit stands where the figures stand that it limits.
TEST(Ledger, TheTourPrintsTheLimitsOfTheFirstPart) {
  std::string tour = run_command("volvelle tour attention").standard_output;
  std::replace(tour.begin(), tour.end(), '\n', ' ');
  const auto unscaled = tour.find("weights without the scaling");
  const auto limit = tour.find("with d_k = 2 the effect is small");
  const auto output = tour.find("Output: weights times V");
  ASSERT_NE(unscaled, std::string::npos);
  EXPECT_GT(limit, unscaled);
  EXPECT_LT(limit, output);
  EXPECT_NE(tour.find("No random numbers"), std::string::npos);
}

}  // namespace
}  // namespace volvelle::testing
