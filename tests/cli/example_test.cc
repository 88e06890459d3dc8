// Every figure that the document prints for its first program, as `attend` and `tour` print them.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/attend_document.h"
#include "volvelle/attention/simd.h"

namespace volvelle::testing {
namespace {

using Json = nlohmann::json;

// Compares nested lists to the four printed decimals.
void expect_printed(const Json& actual, const Json& printed, const std::string& where) {
  if (printed.is_array()) {
    ASSERT_EQ(actual.size(), printed.size()) << where;
    for (std::size_t i = 0; i < printed.size(); ++i) expect_printed(actual[i], printed[i], where);
  } else if (printed.is_null()) {
    EXPECT_TRUE(actual.is_null()) << where;
  } else {
    EXPECT_NEAR(actual.get<double>(), printed.get<double>(), 5e-5) << where;
  }
}

const std::vector<std::vector<std::string>> kEveryWay{{},
                                                      {"--path", "oracle"},
                                                      {"--path", "composed"},
                                                      {"--path", "fused"},
                                                      {"--simd", simd_targets().back()},
                                                      {"--dtype", "float64"},
                                                      {"--threads", "1"}};

TEST(ProgramExample, FiguresAreTheDocumentsOnEveryPath) {
  for (const auto& way : kEveryWay) {
    std::vector<std::string> arguments{"--steps"};
    arguments.insert(arguments.end(), way.begin(), way.end());
    const Json got = attend_json(arguments);
    const std::string where = way.empty() ? "plain" : way.back();
    expect_printed(got["scores"], {{1, 0}, {1, 1}}, where);
    expect_printed(got["scaled"], {{0.7071, 0}, {0.7071, 0.7071}}, where);
    expect_printed(got["weights"], {{0.6698, 0.3302}, {0.5, 0.5}}, where);
    expect_printed(got["weights_unscaled"], {{0.7311, 0.2689}, {0.5, 0.5}}, where);
    expect_printed(got["row_sums"], {1, 1}, where);
    expect_printed(got["output"], {{1.6605, 2.6605}, {2, 3}}, where);
    expect_printed(got["scale"], 0.7071, where);
    for (const char* key : {"shapes", "path", "reason", "simd", "threads", "milliseconds", "lse"}) {
      EXPECT_TRUE(got.contains(key)) << key;
    }
  }
}

TEST(ProgramExample, CausalRowZeroIsOneZeroAndRowOneIsUnchanged) {
  const Json plain = attend_json({"--steps"});
  const Json causal = attend_json({"--steps", "--causal"});
  expect_printed(causal["weights"][0], {1, 0}, "weights");
  expect_printed(causal["output"][0], {1, 2}, "output");
  EXPECT_TRUE(causal["scores"][0][1].is_null());  // excluded
  EXPECT_EQ(causal["weights"][1], plain["weights"][1]);
  EXPECT_EQ(causal["output"][1], plain["output"][1]);
}

TEST(ProgramExample, TheTablesShowEveryStep) {
  const CapturedRun run = captured_run({"attend"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  for (const char* line : {
           "  q0 . k0 = 1*1 + 0*0 = 1\n",
           "  q0 . k1 = 1*0 + 0*1 = 0\n",
           "  query 0  1      0\n  query 1  1      1\n",
           "  query 0  0.7071  0\n  query 1  0.7071  0.7071\n",
           "e^0.7071 / (e^0.7071 + e^0) = 0.6698\n",
           "  query 0     0.6698  0.3302  1\n  query 1     0.5     0.5     1\n",
           "  column sum  1.1698  0.8302\n",
           "  query 0  0.7311  0.2689\n  query 1  0.5     0.5\n",
           "  query 0  1.6605  2.6605\n  query 1  2       3\n",
           "row 0 by hand: 0.6698 (1, 2) + 0.3302 (3, 4) = (1.6605, 2.6605)\n",
           "Fused equals oracle: yes",
       }) {
    EXPECT_NE(run.out.find(line), std::string::npos) << line << "is missing in\n" << run.out;
  }
}

TEST(ProgramExample, AnExcludedCellIsVisiblyExcluded) {
  const CapturedRun run = captured_run({"attend", "--causal"});
  EXPECT_NE(run.out.find("  query 0  0.7071  .\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("  query 0     1      .      1\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("  query 0  1  2\n  query 1  2  3\n"), std::string::npos) << run.out;
}

TEST(ProgramExample, NumbersTypedByHandGiveTheSame) {
  const Json typed = attend_json({"--q", "1 0; 1 1", "--k", "1 0; 0 1", "--v", "1 2; 3 4"});
  EXPECT_EQ(typed["output"], attend_json({})["output"]);
  const Json projected =
      attend_json({"--x", "1 0; 1 1", "--wq", "1 0; 0 1", "--wk", "1 0; -1 1", "--wv", "1 2; 2 2"});
  EXPECT_EQ(projected["output"], typed["output"]);
}

TEST(ProgramExample, TheTourSaysEveryFigureAndItsLimits) {
  const CapturedRun all = captured_run({"tour"});
  EXPECT_EQ(all.exit_code, 0);
  std::string parts;
  for (const char* part : {"attention", "norms", "sinusoidal", "positions", "rotary"}) {
    parts += (parts.empty() ? "" : "\n\n") + captured_run({"tour", part}).out;
  }
  EXPECT_EQ(all.out, parts);
  for (const char* text :
       {"0.7071", "0.6698", "0.3302", "0.7311", "0.2689", "(1.6605, 2.6605)", "weights are (1, 0)",
        "(1, 2)", "unchanged, bit for bit", "softmax over columns", "divided by d_k = 2",
        "Limit: with d_k = 2", "Fused equals oracle: yes", "the output is\n  (2,3)"}) {
    EXPECT_NE(all.out.find(text), std::string::npos) << text << " is missing in\n" << all.out;
  }
}

TEST(ProgramExample, TheTourOfNormsShowsPathsStreamAndTheNormPerToken) {
  const std::string out = captured_run({"tour", "norms"}).out;
  for (const char* text :
       {"norm(x + attention(x))", "x + attention(norm(x))", "after the last", "-1.0690", "0.080",
        "1.608", "0.616", "1.29    77%", "4.55    22%", "not a model of a real network",
        "pre yes, post no", "12      post       layer  1.15    0.97  1.47",
        "24      pre        layer  0.66    0.52  0.81", "Nothing about final quality"}) {
    EXPECT_NE(out.find(text), std::string::npos) << text << " is missing in\n" << out;
  }
  // A layer norm's row is the same among others, a batch norm's is not.
  const auto numbers_after = [&](const std::string& name) {
    const std::size_t begin = out.find(name) + 26;
    return out.substr(begin, out.find('\n', begin) - begin);
  };
  EXPECT_EQ(numbers_after("its layer norm"), numbers_after("the same, among others"));
  EXPECT_NE(numbers_after("its batch norm"), numbers_after("beside another token"));
  EXPECT_EQ(captured_run({"tour", "norms", "--threads", "2"}).out, out);
  EXPECT_NE(captured_run({"tour", "norms", "--digits", "6"}).out.find("0.079766"),
            std::string::npos);
}

TEST(ProgramExample, TheToursOfPositionsShowEachPartsFigures) {
  const std::map<std::string, std::vector<const char*>> wanted{
      {"sinusoidal", {"0.8415 0.5403 0.311", "(-0.2794 0.9602)", "3,299 of 5,000", "2.8284"}},
      {"positions",
       {"0.841 0.54 0.1", "3.588", "0.96 to 8.57", "position 16", "0 0 0.5 -0.5 1 -1"}},
      {"rotary", {"-3 -1.4142 1 4.2426", "-0.89952", "7.037e+13", "positions 0 0 0 0 1"}}};
  for (const auto& [part, texts] : wanted) {
    const std::string out = captured_run({"tour", part}).out;
    for (const char* text : texts) {
      EXPECT_NE(out.find(text), std::string::npos) << text << " is missing in\n" << out;
    }
    EXPECT_EQ(captured_run({"tour", part, "--threads", "2"}).out, out);
    EXPECT_NE(captured_run({"tour", part, "--digits", "6"}).out, out);
  }
}

TEST(ProgramExample, PagesKeepToEightyColumns) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"tour"},
                                                    {"attend"},
                                                    {"attend", "--causal", "--digits", "12"},
                                                    {"--help"},
                                                    {"attend", "--help"},
                                                    {"tour", "--help"}}) {
    std::istringstream lines(captured_run(arguments).out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

}  // namespace
}  // namespace volvelle::testing
