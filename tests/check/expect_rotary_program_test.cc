// `volvelle attend --rotary .. --expect` names the mistakes that others make with turned queries
// and keys: each file is what a program with that mistake writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/attend_document.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::int64_t kHeads = 2, kTokens = 9, kWidth = 8;

Tensor waves(double step) {
  Tensor array(DType::float32, Shape{kHeads, kTokens, kWidth});
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const auto at = static_cast<double>(i);
    array.data<float>()[i] = static_cast<float>(1.3 * std::sin(1 + step * at + 0.03 * at * at));
  }
  return array;
}

class ExpectRotary : public ::testing::Test {
 protected:
  ExpectRotary() {
    write_arrays(problem_, {{"q", waves(0.7)}, {"k", waves(1.1)}, {"v", waves(1.9)}}, {});
  }

  // The faults that explain the result of `theirs`, for who asked for `ours`.
  std::vector<std::string> faults(const Arguments& ours, const Arguments& theirs) {
    Arguments run{"attend", problem_, "--causal", "--out", expected_, "--force"};
    run.insert(run.end(), theirs.begin(), theirs.end());
    const CapturedRun made = captured_run(run);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return faults_of_file(ours);
  }

  std::vector<std::string> faults_of_file(const Arguments& ours) {
    Arguments run{problem_, "--causal", "--expect", expected_};
    run.insert(run.end(), ours.begin(), ours.end());
    std::vector<std::string> names;
    const Json got = attend_json(run, 3);
    for (const Json& one : got["expect"]["diagnosis"]) {
      names.push_back(one["fault"].get<std::string>());
    }
    return names;
  }

  const ScratchFolder folder_;
  const std::string problem_ = folder_ / "problem.npz", expected_ = folder_ / "theirs.npz";
};

const Arguments kHalves{"--rotary", "split-half"};

TEST_F(ExpectRotary, NamesTheOtherPairing) {
  EXPECT_THAT(faults(kHalves, {"--rotary", "interleaved"}), Contains("rotary_pairing"));
  EXPECT_THAT(faults({"--rotary", "interleaved"}, kHalves), Contains("rotary_pairing"));
}

TEST_F(ExpectRotary, NamesAnotherBase) {
  EXPECT_THAT(faults(kHalves, {"--rotary", "split-half", "--base", "500000"}),
              Contains("rotary_base"));
}

TEST_F(ExpectRotary, NamesAnotherWidth) {
  EXPECT_THAT(faults({"--rotary", "split-half", "--partial", "4"}, kHalves),
              Contains("rotary_width"));
}

TEST_F(ExpectRotary, NamesQueriesThatAreOnePositionOff) {
  EXPECT_THAT(faults({"--rotary", "split-half", "--positions", "0,1,2,3,4,5,6,7,8"},
                     {"--rotary", "split-half", "--positions", "1,2,3,4,5,6,7,8,9",
                      "--key-positions", "0,1,2,3,4,5,6,7,8"}),
              Contains("rotary_offset"));
}

TEST_F(ExpectRotary, NamesTurnsThatAreMissing) {
  EXPECT_THAT(faults(kHalves, {}), Contains("rotary_ignored"));
  EXPECT_THAT(faults(kHalves, {"--rotary", "split-half", "--turned-keys"}),
              Contains("keys_not_turned"));
}

TEST_F(ExpectRotary, NamesValuesThatWereTurned) {
  // Keys and values of one shape turn alike: the program turns them as keys first.
  const std::string as_keys = folder_ / "as_keys.npz", turned = folder_ / "turned.npz";
  write_arrays(as_keys, {{"q", waves(0.7)}, {"k", waves(1.9)}, {"v", waves(1.9)}}, {});
  ASSERT_EQ(captured_run({"attend", as_keys, "--rotary", "split-half", "--steps", "--out", turned})
                .exit_code,
            0);
  const NamedArrays steps = read_arrays(turned);
  const Tensor* const values = find_array(steps, "turned_k");
  ASSERT_NE(values, nullptr);
  const std::string wrong = folder_ / "wrong.npz";
  write_arrays(wrong, {{"q", waves(0.7)}, {"k", waves(1.1)}, {"v", *values}}, {});
  ASSERT_EQ(
      captured_run({"attend", wrong, "--causal", "--rotary", "split-half", "--out", expected_})
          .exit_code,
      0);
  EXPECT_THAT(faults_of_file(kHalves), Contains("values_turned"));
}

TEST_F(ExpectRotary, SaysItInWordsAndIsSilentWhereResultsAgree) {
  faults(kHalves, {"--rotary", "interleaved"});
  const CapturedRun text = captured_run(
      {"attend", problem_, "--causal", "--rotary", "split-half", "--expect", expected_});
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_THAT(text.out, HasSubstr("interleaved pairs"));
  const CapturedRun same = captured_run(
      {"attend", problem_, "--causal", "--rotary", "interleaved", "--expect", expected_});
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_THAT(same.out, HasSubstr("within tolerance"));
}

}  // namespace
}  // namespace volvelle::testing
