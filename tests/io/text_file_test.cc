#include "volvelle/io/text_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/captured_run.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(TextFile, ReplacesOnlyWhenForced) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csv";
  check_text_path(path);
  write_text_file(path, "one\n");
  EXPECT_EQ(contents(path), "one\n");
  EXPECT_THROW(check_text_path(path), IoError);
  EXPECT_THROW(write_text_file(path, "two\n"), IoError);
  EXPECT_EQ(contents(path), "one\n");
  check_text_path(path, {.force = true});
  write_text_file(path, "two\n", {.force = true});
  EXPECT_EQ(contents(path), "two\n");
}

TEST(TextFile, AFolderThatIsMissingIsRefusedBeforehand) {
  const ScratchFolder folder;
  EXPECT_THROW(check_text_path(folder / "none/a.csv"), IoError);
  EXPECT_THROW(write_text_file(folder / "none/a.csv", "x"), IoError);
}

}  // namespace
}  // namespace volvelle::testing
