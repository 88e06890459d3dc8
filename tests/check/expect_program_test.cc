// `volvelle attend --expect` on PyTorch's answers (tests/golden/make_expected_files.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace volvelle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Verdict {
  int exit_code = -1;
  nlohmann::json expect;
  std::vector<std::string> faults;
};

std::string data(const std::string& file) {
  return std::string("\"") + VOLVELLE_TEST_DATA + "/check/" + file + '"';
}

Verdict verdict(const std::string& options, const std::string& file,
                const std::string& problem = "problem.npz") {
  const testing::ProgramRun run = testing::run_command("volvelle attend " + data(problem) + " " +
                                                       options + " --json --expect " + data(file));
  Verdict found;
  found.exit_code = run.exit_code;
  const auto document = nlohmann::json::parse(run.standard_output, nullptr, false);
  if (document.is_discarded() || !document.contains("expect")) {
    ADD_FAILURE() << "no verdict: " << run.standard_output.substr(0, 400);
    return found;
  }
  found.expect = document["expect"];
  for (const auto& one : found.expect["diagnosis"]) {
    found.faults.push_back(one["fault"].get<std::string>());
  }
  return found;
}

TEST(ExpectProgram, PyTorchsAnswersAreOurs) {
  const std::vector<std::pair<std::string, std::string>> answers{
      {"--causal", "causal.npz"},
      {"--causal --window 5", "window_5.npz"},
      {"--causal --align top-left", "is_causal.npz"},
      {"--keep " + data("keep.npy"), "keep.npz"},
      {"--scale 1", "unscaled.npz"},
  };
  for (const auto& [options, file] : answers) {
    const Verdict found = verdict(options, file);
    EXPECT_EQ(found.exit_code, 0) << options;
    EXPECT_LT(found.expect["max_abs"].get<double>(), 2e-6) << options;
    EXPECT_THAT(found.faults, IsEmpty()) << options;
  }
}

TEST(ExpectProgram, TheWindowIsNamedWithItsNumber) {
  const Verdict found = verdict("--causal --window 6", "window_5.npz");
  EXPECT_EQ(found.exit_code, 3);
  ASSERT_THAT(found.faults, ElementsAre("window_one_less"));
  EXPECT_EQ(found.expect["diagnosis"][0]["sentence"], "your result equals attention with window 5");
}

TEST(ExpectProgram, PyTorchsOwnTrapsAreNamed) {
  EXPECT_THAT(verdict("--causal", "is_causal.npz").faults, ElementsAre("other_alignment"));
  const std::string keep = "--keep " + data("keep.npy");
  EXPECT_THAT(verdict(keep, "keep_as_float.npz").faults, ElementsAre("keep_added_to_scores"));
  EXPECT_THAT(verdict(keep, "keep_inverted.npz").faults, ElementsAre("mask_inverted"));
  EXPECT_THAT(verdict("", "unscaled.npz").faults, ElementsAre("scale_absent"));
  EXPECT_THAT(verdict("--causal --window 5", "causal.npz").faults, ElementsAre("window_missing"));
  EXPECT_THAT(verdict("", "causal.npz").faults, ElementsAre("causal_added"));
}

TEST(ExpectProgram, PyTorchsGradientsAreOurs) {
  const std::string problem = "backward_problem.npz";
  const Verdict found = verdict("--causal --backward", "gradients.npz", problem);
  EXPECT_EQ(found.exit_code, 0);
  ASSERT_EQ(found.expect["gradients"].size(), 4u);
  for (const auto& [name, one] : found.expect["gradients"].items()) {
    EXPECT_LT(one["max_abs"].get<double>(), 5e-6) << name;
  }
  const Verdict by_head = verdict("--causal --backward", "gradients_by_head.npz", problem);
  EXPECT_EQ(by_head.exit_code, 3);
  EXPECT_THAT(by_head.faults,
              ElementsAre("key_heads_not_summed", "key_heads_not_summed", "bias_not_summed"));
  EXPECT_THAT(verdict("--backward", "gradients.npz", problem).faults, ElementsAre("causal_added"));
}

TEST(ExpectProgram, RowsFirstIsNamedLayout) {
  const Verdict found = verdict("", "rows_first.npz");
  EXPECT_EQ(found.exit_code, 3);
  ASSERT_THAT(found.faults, ElementsAre("layout"));
  EXPECT_THAT(found.expect["diagnosis"][0]["sentence"].get<std::string>(), HasSubstr("(B,T,H,E)"));
}

TEST(ExpectProgram, TheDocumentHoldsWhatIsPromised) {
  const Verdict found = verdict("--causal --window 6", "window_5.npz");
  for (const char* key :
       {"max_abs", "max_rel", "at", "tolerance", "failing_rows", "heads", "diagnosis"}) {
    EXPECT_TRUE(found.expect.contains(key)) << key;
  }
  EXPECT_EQ(found.expect["at"].size(), 4u);
  EXPECT_EQ(found.expect["heads"].size(), 4u);
}

}  // namespace
}  // namespace volvelle
