// The README shows what the program prints and what a C++ user writes; both are held to the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace volvelle::testing {
namespace {

std::vector<std::string> lines_of(std::istream& stream) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    line.erase(line.find_last_not_of(" \t") + 1);
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> file_lines(const std::string& name) {
  std::ifstream file(VOLVELLE_SOURCE_DIR "/" + name);
  EXPECT_TRUE(file) << name;
  return lines_of(file);
}

/// A fenced block: `tag` is what follows the three backticks.
struct Block {
  std::string tag;
  int line = 0;
  std::vector<std::string> text;
};

std::vector<Block> blocks_of(const std::string& name) {
  std::vector<Block> blocks;
  bool inside = false;
  int number = 0;
  for (const std::string& line : file_lines(name)) {
    ++number;
    if (line.compare(0, 3, "```") == 0) {
      if (!inside) blocks.push_back({.tag = line.substr(3), .line = number, .text = {}});
      inside = !inside;
    } else if (inside) {
      blocks.back().text.push_back(line);
    }
  }
  return blocks;
}

/// Whether `shown` is what was printed; a shown line "..." stands for any lines left out.
bool matches(const std::vector<std::string>& shown, std::size_t s,
             const std::vector<std::string>& printed, std::size_t p) {
  for (; s < shown.size() && shown[s] != "..."; ++s, ++p) {
    if (p == printed.size() || shown[s] != printed[p]) return false;
  }
  if (s == shown.size()) return p == printed.size();
  if (s + 1 == shown.size()) return true;
  for (; p < printed.size(); ++p) {
    if (printed[p] == shown[s + 1] && matches(shown, s + 1, printed, p)) return true;
  }
  return false;
}

// The command of a block: its lines from "$ ./run" on, joined where they end in a backslash.
std::string take_command(std::vector<std::string>& text) {
  std::string command;
  while (!text.empty()) {
    std::string line = text.front();
    text.erase(text.begin());
    const bool goes_on = !line.empty() && line.back() == '\\';
    if (goes_on) line.pop_back();
    command += line;
    if (!goes_on) break;
  }
  const std::string run = "$ ./run";
  EXPECT_EQ(command.compare(0, run.size(), run), 0) << command;
  const std::string rest = command.substr(run.size());
  return "volvelle" + (rest.empty() ? " tour" : rest);
}

// `console` blocks are compared word for word; `console timings` blocks only have to run.
TEST(Readme, ExamplesPrintWhatItShows) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(VOLVELLE_SOURCE_DIR);
  int compared = 0;
  for (Block block : blocks_of("README.md")) {
    if (block.tag.compare(0, 7, "console") != 0) continue;
    SCOPED_TRACE("README.md:" + std::to_string(block.line));
    const std::string command = take_command(block.text);
    const ProgramRun run = run_command(command);
    EXPECT_EQ(run.exit_code, 0) << command;
    EXPECT_FALSE(run.standard_output.empty()) << command;
    if (block.tag != "console") continue;
    std::istringstream stream(run.standard_output);
    EXPECT_TRUE(matches(block.text, 0, lines_of(stream), 0)) << run.standard_output;
    ++compared;
  }
  std::filesystem::current_path(before);
  EXPECT_GE(compared, 4);
}

TEST(Readme, TheCppExampleIsTheOneThatIsBuiltAndRun) {
  const std::vector<std::string> example = file_lines("examples/attend.cc");
  int found = 0;
  for (const Block& block : blocks_of("README.md")) {
    if (block.tag != "cpp") continue;
    ++found;
    EXPECT_NE(std::search(example.begin(), example.end(), block.text.begin(), block.text.end()),
              example.end())
        << "README.md:" << block.line << " is not in examples/attend.cc";
  }
  EXPECT_EQ(found, 1);
}

TEST(Readme, ABlockThatShowsSomethingElseIsSeen) {
  EXPECT_TRUE(matches({"a", "...", "d"}, 0, {"a", "b", "c", "d"}, 0));
  EXPECT_FALSE(matches({"a", "...", "d"}, 0, {"a", "b", "c"}, 0));
  EXPECT_FALSE(matches({"a"}, 0, {"a", "b"}, 0));
  EXPECT_FALSE(matches({"a", "x"}, 0, {"a", "b"}, 0));
}

}  // namespace
}  // namespace volvelle::testing
