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

void collect_numbers(const nlohmann::json& value, std::vector<double>& numbers) {
  if (value.is_array()) {
    for (const auto& element : value) collect_numbers(element, numbers);
  } else if (value.is_boolean()) {
    numbers.push_back(value.get<bool>() ? 1 : 0);
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

// The numbers at all keys of a row, one after another.
std::vector<double> numbers_at(const nlohmann::json& json, const LedgerRow& row) {
  std::vector<double> numbers;
  for (const std::string& key : row.keys) {
    const nlohmann::json::json_pointer pointer(key);
    if (json.is_object() && json.contains(pointer)) {
      collect_numbers(json[pointer], numbers);
    } else {
      ADD_FAILURE() << "no such key: " << key;
    }
  }
  return numbers;
}

TEST(Ledger, EveryFigureIsWhatItsCommandGives) {
  const auto rows = read_ledger();
  ASSERT_GE(rows.size(), 77u);  // every printed line, at the least
  for (const LedgerRow& row : rows) {
    SCOPED_TRACE(row.item + ": " + row.command);
    const std::vector<double> numbers = numbers_at(json_of(row.command), row);
    ASSERT_FALSE(row.figures.empty());
    if (numbers.size() != row.figures.size()) {
      ADD_FAILURE() << numbers.size() << " numbers, " << row.figures.size() << " figures";
      continue;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_TRUE(agrees(numbers[i], row, row.figures[i])) << numbers[i] << ' ' << row.figures[i];
    }
  }
}

// The control of the test above: the next digit is refused.
TEST(Ledger, AFigureThatDiffersInItsLastDigitIsSeen) {
  LedgerRow first, second;
  first.part = 1;
  second.part = 2;
  EXPECT_TRUE(agrees(0.66976, first, "0.6698"));
  EXPECT_FALSE(agrees(0.66976, first, "0.6697"));
  EXPECT_FALSE(agrees(1.04, first, "1"));  // part 1 prints 1.04
  EXPECT_TRUE(agrees(0.0797664, second, "0.080"));
  EXPECT_FALSE(agrees(0.0797664, second, "0.081"));
  EXPECT_FALSE(agrees(0.0797664, second, "0.0799"));
  EXPECT_TRUE(agrees(0.77493, second, "77%"));
  EXPECT_FALSE(agrees(0.77493, second, "78%"));
  EXPECT_FALSE(agrees(0.77493, second, "77.4%"));
  EXPECT_TRUE(agrees(1.09951e12, second, "1.100e+12"));
  EXPECT_FALSE(agrees(1.09951e12, second, "1.101e+12"));
  EXPECT_FALSE(agrees(1.09951e12, second, "1.100e+11"));
  EXPECT_TRUE(agrees(1, second, "true"));
  EXPECT_FALSE(agrees(1, second, "false"));
  EXPECT_FALSE(agrees(0.5, second, "true"));
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

// None is left to words alone.
TEST(Ledger, EveryPrintedLineHasItsCommandAndFigures) {
  std::set<std::string> held;
  for (const LedgerRow& row : read_ledger()) held.insert(row.item);
  for (int line = 1; line <= 77; ++line) {
    EXPECT_TRUE(held.count("P" + std::to_string(line))) << "P" << line;
  }
}

// Of part 1 all figures; of the others those that the document prints, since the claims' rows
// measure more than a tour has time for.
TEST(Ledger, TheTourShowsEveryPrintedFigure) {
  std::map<int, std::string> tours;
  for (const auto& [part, name] : {std::pair{1, "attention"},
                                   {2, "norms"},
                                   {3, "sinusoidal"},
                                   {4, "positions"},
                                   {5, "rotary"}}) {
    const ProgramRun run = run_command(std::string("volvelle tour ") + name);
    EXPECT_EQ(run.exit_code, 0);
    tours[part] = run.standard_output;
  }
  for (const LedgerRow& row : read_ledger()) {
    const auto tour = tours.find(row.part);
    if (row.part > 1 && row.item[0] != 'P') continue;
    if (row.printed.starts_with("48 layers")) continue;  // longer than a tour takes; the study's
    ASSERT_NE(tour, tours.end()) << row.item << " is of part " << row.part;
    for (const std::string& figure : row.figures) {
      if (figure.find('.') == std::string::npos) continue;  // whole numbers are everywhere
      EXPECT_NE(tour->second.find(figure), std::string::npos) << row.item << " " << figure;
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
