// Runs the tests; `--file=tests/io/npy_test.cc` keeps those written in that file, which is what
// makes one binary many ctest entries. A file without a test in it is an error, so that no entry
// passes idle.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <string_view>

namespace {

std::string FilterForFile(std::string_view file) {
  std::string filter;
  const auto& unit = *testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const auto& suite = *unit.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& info = *suite.GetTestInfo(t);
      if (!std::string_view(info.file()).ends_with(file)) continue;
      filter += std::string(filter.empty() ? "" : ":") + suite.name() + "." + info.name();
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--file=")) {
      std::cerr << "unknown argument " << argument << "; give --file=tests/FOLDER/NAME_test.cc\n";
      return 2;
    }
    const std::string filter = FilterForFile(argument.substr(7));
    if (filter.empty()) {
      std::cerr << "no test is written in " << argument.substr(7) << "\n";
      return 1;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  return RUN_ALL_TESTS();
}
