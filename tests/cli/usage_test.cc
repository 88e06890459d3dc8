// How the program behaves as a program: exit codes, streams, help, suggestions, contradictions.
#include <gtest/gtest.h>
#include <signal.h>

#include "support/attend_document.h"
#include "volvelle/attention/simd.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

// Refused with that code: nothing on stdout, and a message that says this.
void expect_refused(const std::vector<std::string>& arguments, int code, const std::string& says) {
  const CapturedRun run = captured_run(arguments);
  std::string line;
  for (const std::string& argument : arguments) line += argument + ' ';
  EXPECT_EQ(run.exit_code, code) << line << '\n' << run.err;
  EXPECT_EQ(run.out, "") << line;
  EXPECT_EQ(run.err.substr(0, 7), "error: ") << line;
  EXPECT_NE(run.err.find(says), std::string::npos) << line << "said: " << run.err;
}

TEST(ProgramUsage, NoVerbGivesShortHelp) {
  const CapturedRun run = captured_run({});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("volvelle tour"), std::string::npos);
  EXPECT_EQ(run.out, captured_run({"--help"}).out);
}

TEST(ProgramUsage, VersionNamesLibraryCompilerAndInstructionSets) {
  const CapturedRun run = captured_run({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  for (const char* text : {"volvelle 0.", "compiler", "chosen"}) {
    EXPECT_NE(run.out.find(text), std::string::npos) << text;
  }
  for (const std::string& target : simd_targets()) {
    EXPECT_NE(run.out.find(target), std::string::npos) << target;
  }
}

TEST(ProgramUsage, HelpOfAVerbBeginsWithExamples) {
  for (const char* verb : {"attend", "tour"}) {
    const CapturedRun run = captured_run({verb, "--help"});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_LT(run.out.find("Examples"), run.out.find("Usage"));
    EXPECT_NE(run.out.find(std::string("volvelle ") + verb), std::string::npos);
    EXPECT_EQ(captured_run({verb, "-h"}).out, run.out);
    EXPECT_EQ(captured_run({"help", verb}).out, run.out);
  }
}

TEST(ProgramUsage, MisspeltVerbsOptionsAndChoicesAreSuggested) {
  expect_refused({"atend"}, 2, "did you mean 'attend'?");
  expect_refused({"--versoin"}, 2, "did you mean '--version'?");
  expect_refused({"help", "tuor"}, 2, "did you mean 'tour'?");
  expect_refused({"attend", "--cuasal"}, 2, "did you mean '--causal'?");
  expect_refused({"attend", "--windw", "3"}, 2, "did you mean '--window'?");
  expect_refused({"attend", "--path", "fsed"}, 2, "did you mean 'fused'?");
  expect_refused({"tour", "atention"}, 2, "did you mean 'attention'?");
  const CapturedRun far = captured_run({"attend", "--zzzz"});
  EXPECT_EQ(far.err.find("did you mean"), std::string::npos) << far.err;
}

TEST(ProgramUsage, ValuesOfTheWrongKindAreRefused) {
  expect_refused({"attend", "--window", "abc"}, 2, "--window takes a whole number, not 'abc'");
  expect_refused({"attend", "--window", "3.5"}, 2, "whole number");
  expect_refused({"attend", "--window", "99999999999999999999"}, 2, "whole number");
  expect_refused({"attend", "--window"}, 2, "--window needs a value");
  expect_refused({"attend", "--window", "--causal"}, 2, "--window needs a value");
  expect_refused({"attend", "--window="}, 2, "--window needs a value");
  expect_refused({"attend", "--window", "3", "--window", "4"}, 2, "given twice");
  expect_refused({"attend", "--scale", "fast"}, 2, "--scale takes a number");
  expect_refused({"attend", "--key-lengths", "1,x"}, 2, "--key-lengths takes a whole number");
  expect_refused({"attend", "--dtype", "int8"}, 2, "float32");
  expect_refused({"attend", "--simd", "mmx"}, 2, simd_targets().back());
  expect_refused({"attend", "--threads", "0"}, 2, "--threads");
  expect_refused({"attend", "--threads", "-2"}, 2, "--threads");
  expect_refused({"attend", "--digits", "99"}, 2, "--digits");
  expect_refused({"tour", "--threads", "0"}, 2, "--threads");
  expect_refused({"attend", "a.npz", "b.npz"}, 2, "one argument too many");
}

TEST(ProgramUsage, ContradictionsAreRefused) {
  expect_refused({"attend", "--align", "top-left", "--query-offset", "1"}, 2, "--query-offset");
  expect_refused({"attend", "--prefix", "1"}, 2, "--causal");
  expect_refused({"attend", "--padding", "left"}, 2, "--key-lengths");
  expect_refused({"attend", "--buckets", "one-way"}, 2, "bucket_table");
  expect_refused({"attend", "--max-distance", "9"}, 2, "bucket_table");
  expect_refused({"attend", "--heads", "2"}, 2, "--heads");
  expect_refused({"attend", "--key-heads", "2"}, 2, "--key-heads");
  expect_refused({"attend", "--atol", "1"}, 2, "--expect");
  expect_refused({"attend", "--rtol", "1"}, 2, "--expect");
  expect_refused({"attend", "--force"}, 2, "--out");
  expect_refused({"attend", "--explain", "--steps"}, 2, "--explain");
  expect_refused({"attend", "--layout", "bthd"}, 2, "--layout");
  expect_refused({"attend", "--x", "1 0", "--wq", "1;1", "--wk", "1;1"}, 2, "come together");
  expect_refused({"attend", "--x", "1 0", "--wq", "1;1", "--wk", "1;1", "--wv", "1;1", "--q", "1"},
                 2, "two ways");
  expect_refused({"attend", "--q", "1 0"}, 2, "attention needs q, k and v");
}

TEST(ProgramUsage, TheSameFromFileAndOptionIsRefused) {
  const ScratchFolder folder;
  const std::string file =
      write_file(folder / "in.json",
                 R"({"q": [[1, 0]], "k": [[1, 0]], "v": [[1, 2]], "slopes": [0.5], "sinks": [0],
          "bias": [[0.5]], "keep": [[true]], "key_lengths": [1], "segments": [[0]],
          "query_offset": 0})");
  expect_refused({"attend", file, "--q", "1 0"}, 2, "both give the same");
  expect_refused({"attend", file, "--alibi"}, 2, "both give the same");
  expect_refused({"attend", file, "--sinks", "1"}, 2, "both give the same");
  expect_refused({"attend", file, "--bias", "1"}, 2, "both give the same");
  expect_refused({"attend", file, "--keep", "1"}, 2, "both give the same");
  expect_refused({"attend", file, "--segments", "0"}, 2, "both give the same");
  expect_refused({"attend", file, "--key-lengths", "1"}, 2, "both give the same");
  expect_refused({"attend", file, "--query-offset", "1"}, 2, "both give the same");
  expect_refused({"attend", file, "--align", "top-left"}, 2, "where the queries stand");
  expect_refused({"attend", file, "--x", "1 0", "--wq", "1;1", "--wk", "1;1", "--wv", "1;1"}, 2,
                 "both give the same");
  EXPECT_EQ(captured_run({"attend", file}).exit_code, 0);
}

TEST(ProgramUsage, WhatSoundsOddButIsLegalRuns) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--align", "top-left"},
        {"--query-offset", "-7"},
        {"--causal", "--window-right", "1"},
        {"--window", "0"},
        {"--window", "1000000"},
        {"--causal", "--query-offset", "-9000000000000000000"},
        {"--sinks", "-0.5"},
        {"--causal", "--prefix", "2"},
        {"--chunk", "1"},
        {"--softcap", "0"}}) {
    const nlohmann::json got = attend_json(arguments);
    EXPECT_EQ(got["output"].size(), 2u) << arguments[0];
  }
}

TEST(ProgramUsage, JsonIsOneDocumentWhateverIsAsked) {
  const nlohmann::json got = attend_json({"--steps", "--weights", "--entropy", "--column-sums"});
  for (const char* key : {"scores", "scaled", "weights", "weights_unscaled", "row_sums", "entropy",
                          "column_sums", "output", "lse"}) {
    EXPECT_TRUE(got.contains(key)) << key;
  }
  EXPECT_EQ(got["entropy"].size(), 2u);
  EXPECT_NEAR(got["entropy"][1].get<double>(), std::log(2.0), 1e-6);
  const nlohmann::json plan = attend_json({"--explain"});
  EXPECT_EQ(plan["path"], "fused");
  EXPECT_FALSE(plan.contains("output"));
  EXPECT_TRUE(plan["tiles"].contains("partial"));
}

TEST(ProgramUsage, ARowThatSeesNoKeyHasANullLogSumExpAndOutputZero) {
  const nlohmann::json got = attend_json({"--causal", "--query-offset", "-1"});
  EXPECT_TRUE(got["lse"][0].is_null());
  EXPECT_EQ(got["output"][0], nlohmann::json::parse("[0, 0]"));
  const std::string said = "No key is seen by query 0: weights and output are 0.";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"attend", "--causal", "--query-offset", "-1"},
        {"attend", "--bias", "-inf -inf; 0 0"}}) {
    const CapturedRun run = captured_run(arguments);
    EXPECT_NE(run.out.find(said), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("row 1, key 0: e^"), std::string::npos) << run.out;
  }
  EXPECT_EQ(captured_run({"attend"}).out.find("No key"), std::string::npos);
}

TEST(ProgramUsage, AnUnwritableStdoutIsAFailure) {
  EXPECT_EQ(captured_run({"tour"}, "/dev/full").exit_code, 1);
  EXPECT_EQ(captured_run({"attend", "--json"}, "/dev/full").exit_code, 1);
}

TEST(ProgramUsage, AnInterruptEndsALongRunWith130) {
  const ScratchFolder folder;
  const std::string big = folder / "big.npz";
  const Tensor zeros = Tensor::zeros(DType::float32, Shape{30000, 64});
  write_arrays(big, {{"q", zeros}, {"k", zeros}, {"v", zeros}});
  const CapturedRun run = interrupted_run({"attend", big, "--path", "oracle"}, SIGINT, 0.5);
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("interrupted"), std::string::npos);
}

}  // namespace
}  // namespace volvelle::testing
