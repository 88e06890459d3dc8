// `volvelle attend --backward` and `--dropout`: from files to gradients, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "support/arrays.h"
#include "support/attend_document.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

// Numbers without a pattern, the same on every run.
Tensor numbers(const Shape& shape, std::uint32_t seed, DType dtype = DType::float32) {
  return filled(dtype, shape, [state = seed]() mutable {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / (1 << 23) - 1.0;
  });
}

void flatten(const Json& list, std::vector<double>& into) {
  if (!list.is_array()) return into.push_back(list.get<float>());
  for (const Json& one : list) flatten(one, into);
}

std::vector<double> flat(const Json& list) {
  std::vector<double> result;
  flatten(list, result);
  return result;
}

struct Problem {
  Tensor q = numbers({2, 4, 6, 5}, 1);
  Tensor k = numbers({2, 2, 9, 5}, 2);
  Tensor v = numbers({2, 2, 9, 3}, 3);
  Tensor grad_output = numbers({2, 4, 6, 3}, 4);

  NamedArrays arrays() const {
    return {{"q", q}, {"k", k}, {"v", v}, {"grad_output", grad_output}};
  }
  std::string written(const std::string& path, const NamedArrays& extra = {}) const {
    NamedArrays all = arrays();
    all.insert(all.end(), extra.begin(), extra.end());
    write_arrays(path, all, {.force = true});
    return path;
  }
  AttentionGradientResult gradients(AttentionProblem problem) const {
    problem.q = q.view();
    problem.k = k.view();
    problem.v = v.view();
    const AttentionResult forward = attend(problem);
    return attend_backward(problem, {forward.output.view(), forward.lse.view()},
                           grad_output.view());
  }
};

void expect_refused(const Arguments& arguments, int code, const std::string& says) {
  const CapturedRun run = captured_run(arguments);
  EXPECT_EQ(run.exit_code, code) << says << '\n' << run.err;
  EXPECT_EQ(run.out, "") << says;
  EXPECT_NE(run.err.find(says), std::string::npos) << "said: " << run.err;
}

TEST(ProgramBackward, GivesTheGradientsOfWhatWasGiven) {
  const ScratchFolder folder;
  const Problem p;
  const Tensor bias = numbers({1, 4, 6, 9}, 5);
  const Tensor sinks = listed(DType::float32, {4}, {0.5, -1, 0, 2});
  const Tensor table = numbers({4, 5}, 6);
  const Tensor buckets = numbers({4, 8}, 7);
  const Tensor slopes = listed(DType::float32, {4}, {0.5, 0.25, 0.125, 0.0625});
  const Json got = attend_json({p.written(folder / "in.npz", {{"bias", bias},
                                                              {"sinks", sinks},
                                                              {"bias_table", table},
                                                              {"bucket_table", buckets},
                                                              {"slopes", slopes}}),
                                "--causal", "--buckets", "two-way", "--backward"});
  AttentionProblem problem;
  problem.causal = true;
  problem.bias = bias.view();
  problem.sinks = sinks.view();
  problem.bias_table = table.view();
  problem.bucket_table = buckets.view();
  problem.buckets = Buckets::two_way;
  problem.slopes = slopes.view();
  const AttentionGradientResult right = p.gradients(problem);
  EXPECT_EQ(flat(got["grad_q"]), values_of(right.q.view()));
  EXPECT_EQ(flat(got["grad_k"]), values_of(right.k.view()));
  EXPECT_EQ(flat(got["grad_v"]), values_of(right.v.view()));
  EXPECT_EQ(flat(got["grad_bias"]), values_of(right.bias.view()));
  EXPECT_EQ(flat(got["grad_slopes"]), values_of(right.slopes.view()));
  EXPECT_EQ(flat(got["grad_sinks"]), values_of(right.sinks.view()));
  EXPECT_EQ(flat(got["grad_bias_table"]), values_of(right.bias_table.view()));
  EXPECT_EQ(flat(got["grad_bucket_table"]), values_of(right.bucket_table.view()));
  EXPECT_EQ(got["shapes"]["grad_k"], Json::parse("[2, 2, 9, 5]"));
  EXPECT_EQ(got["shapes"]["grad_bias"], Json::parse("[1, 4, 6, 9]"));
  EXPECT_GT(got["backward"]["milliseconds"].get<double>(), 0);
  EXPECT_FALSE(got["backward"]["path"].get<std::string>().empty());
  const Json plain = attend_json({p.written(folder / "plain.npz"), "--backward"});
  EXPECT_FALSE(plain.contains("grad_bias"));
  EXPECT_FALSE(plain.contains("grad_sinks"));
}

TEST(ProgramBackward, GradOutputComesFromAFileOrIsTyped) {
  const ScratchFolder folder;
  const Problem p;
  const std::string whole = p.written(folder / "whole.npz");
  write_arrays(folder / "qkv.npz", {{"q", p.q}, {"k", p.k}, {"v", p.v}});
  write_arrays(folder / "back.npz", {{"grad_output", p.grad_output}});
  const Json typed = attend_json({"--backward", "--grad-output", "1 0; 0 1"});
  EXPECT_EQ(typed["grad_v"].size(), 2u);
  EXPECT_NEAR(typed["grad_v"][0][0].get<double>(), 0.66976155, 1e-6);
  const std::string csv = write_file(folder / "back.csv", "1,0\n0,1\n");
  EXPECT_EQ(attend_json({"--backward", "--grad-output", csv})["grad_q"], typed["grad_q"]);
  const Json wide =
      attend_json({"--backward", "--grad-output", "0.1 0; 0 1", "--dtype", "float64"});
  EXPECT_NEAR(wide["grad_v"][1][1].get<double>(), 0.5, 1e-15);
  EXPECT_EQ(captured_run(
                {"attend", folder / "qkv.npz", "--backward", "--grad-output", folder / "back.npz"})
                .exit_code,
            2);  // one array is wanted, not a file of named ones
}

TEST(ProgramBackward, LayoutsAreOrdersOfTheSameNumbers) {
  const ScratchFolder folder;
  const Problem p;
  const auto bthd = [](const Tensor& array) {  // the memory order of (B,T,H,D)
    const LaidOut out = laid_out(array, Layout::bthd);
    const Shape& s = array.shape();
    return copy_of(View(out.view.data(), array.dtype(), Shape{s[0], s[2], s[1], s[3]}));
  };
  const std::string turned = folder / "bthd.npz";
  write_arrays(
      turned,
      {{"q", bthd(p.q)}, {"k", bthd(p.k)}, {"v", bthd(p.v)}, {"grad_output", bthd(p.grad_output)}});
  const Json a = attend_json({p.written(folder / "bhtd.npz"), "--backward"});
  const Json b = attend_json({turned, "--backward", "--layout", "bthd"});
  EXPECT_EQ(b["shapes"]["grad_k"], Json::parse("[2, 9, 2, 5]"));
  for (const char* name : {"grad_q", "grad_k", "grad_v"}) {
    for (std::size_t row = 0; row < 2; ++row) {
      for (std::size_t h = 0; h < a[name][row].size(); ++h) {
        for (std::size_t t = 0; t < a[name][row][h].size(); ++t) {
          EXPECT_EQ(a[name][row][h][t], b[name][row][t][h]) << name;
        }
      }
    }
  }
  const std::string mine = folder / "mine.npz";
  EXPECT_EQ(
      captured_run({"attend", turned, "--layout", "bthd", "--backward", "--out", mine}).exit_code,
      0);
  const Json same = attend_json({turned, "--layout", "bthd", "--backward", "--expect", mine});
  EXPECT_EQ(same["expect"]["gradients"]["grad_k"]["max_abs"], 0);
  // And in our own order they are recognised as such.
  const std::string other = folder / "other.npz";
  captured_run({"attend", folder / "bhtd.npz", "--backward", "--out", other});
  NamedArrays theirs = read_arrays(other);
  write_arrays(folder / "k.npz", {{"grad_k", *find_array(theirs, "grad_k")}});
  const Json found =
      attend_json({turned, "--layout", "bthd", "--backward", "--expect", folder / "k.npz"}, 3);
  ASSERT_EQ(found["expect"]["diagnosis"].size(), 1u);
  EXPECT_EQ(found["expect"]["diagnosis"][0]["fault"], "layout");
  EXPECT_NE(found["expect"]["diagnosis"][0]["sentence"].get<std::string>().find("(B,G,S,D)"),
            std::string::npos);
}

TEST(ProgramBackward, OnePackedArrayHasThreeGradients) {
  const ScratchFolder folder;
  write_arrays(folder / "qkv.npz",
               {{"qkv", numbers({2, 5, 3, 2, 4}, 9)}, {"grad_output", numbers({2, 5, 2, 4}, 8)}});
  const Json got = attend_json({folder / "qkv.npz", "--layout", "bt3hd", "--backward"});
  EXPECT_EQ(got["shapes"]["grad_v"], Json::parse("[2, 5, 2, 4]"));
}

TEST(ProgramBackward, BehindProjectionsTheGradientsAreThoseOfQKAndV) {
  const Json got = attend_json({"--x", "1 0; 1 1", "--wq", "1 0; 0 1", "--wk", "1 0; 0 1", "--wv",
                                "1 2; 3 4", "--backward", "--grad-output", "1 0; 0 1"});
  const Json same = attend_json({"--q", "1 0; 1 1", "--k", "1 0; 1 1", "--v", "1 2; 4 6",
                                 "--backward", "--grad-output", "1 0; 0 1"});
  for (const char* name : {"grad_q", "grad_k", "grad_v"}) EXPECT_EQ(got[name], same[name]) << name;
}

TEST(ProgramBackward, OutHoldsTheGradientsAndExpectTakesThem) {
  const ScratchFolder folder;
  const Problem p;
  const std::string in = p.written(folder / "in.npz", {{"bias", numbers({6, 9}, 5)}});
  const std::string out = folder / "out.safetensors";
  const CapturedRun made = captured_run({"attend", in, "--causal", "--backward", "--out", out});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const NamedArrays arrays = read_arrays(out);
  for (const char* name : {"output", "lse", "grad_q", "grad_k", "grad_v", "grad_bias"}) {
    EXPECT_NE(find_array(arrays, name), nullptr) << name;
  }
  EXPECT_EQ(find_array(arrays, "grad_output"), nullptr);
  const CapturedRun same = captured_run({"attend", in, "--causal", "--backward", "--expect", out});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_NE(same.out.find("Gradients equal "), std::string::npos) << same.out;
  // Beside the arrays of INPUT they are results: not read, with a remark.
  NamedArrays again = p.arrays();
  again.push_back({"grad_q", p.q});
  write_arrays(folder / "again.npz", again);
  const CapturedRun remarked = captured_run({"attend", folder / "again.npz", "--backward"});
  EXPECT_EQ(remarked.exit_code, 0);
  EXPECT_NE(remarked.err.find("'grad_q'"), std::string::npos) << remarked.err;
}

TEST(ProgramBackward, AMistakeIsNamedAndEndsWithThree) {
  const ScratchFolder folder;
  const Problem p;
  const std::string in = p.written(folder / "in.npz");
  AttentionProblem problem;
  problem.scale = 0.3;
  const AttentionGradientResult right = p.gradients(problem);
  Tensor wrong = right.q;
  for (std::int64_t n = 0; n < wrong.size(); ++n) wrong.data<float>()[n] /= 0.3f;
  write_arrays(folder / "theirs.npz", {{"grad_q", wrong}, {"grad_v", right.v}});
  const Arguments line{in, "--scale", "0.3", "--backward", "--expect", folder / "theirs.npz"};
  const Json expect = attend_json(line, 3)["expect"];
  EXPECT_EQ(expect["matches"], false);
  EXPECT_EQ(expect["gradients"]["grad_q"]["matches"], false);
  EXPECT_EQ(expect["gradients"]["grad_v"]["matches"], true);
  EXPECT_FALSE(expect["gradients"].contains("grad_k"));
  EXPECT_FALSE(expect.contains("max_abs"));  // there is no output to compare
  ASSERT_EQ(expect["diagnosis"].size(), 1u);
  EXPECT_EQ(expect["diagnosis"][0]["fault"], "scale_missing");
  Arguments text = line;
  text.insert(text.begin(), "attend");
  const CapturedRun run = captured_run(text);
  EXPECT_EQ(run.exit_code, 3);
  for (const char* says : {"Gradients differ from", "without the factor scale, 0.3", "grad_v"}) {
    EXPECT_NE(run.out.find(says), std::string::npos) << says << '\n' << run.out;
  }
}

TEST(ProgramBackward, WhatExpectLeavesOutIsSaid) {
  const ScratchFolder folder;
  const Problem p;
  const std::string in = p.written(folder / "in.npz");
  const std::string theirs = folder / "theirs.npz";
  captured_run({"attend", in, "--backward", "--out", theirs});
  write_arrays(folder / "qkv.npz", {{"q", p.q}, {"k", p.k}, {"v", p.v}});
  const CapturedRun forward = captured_run({"attend", folder / "qkv.npz", "--expect", theirs});
  EXPECT_EQ(forward.exit_code, 0);
  EXPECT_NE(forward.err.find("--backward compares them"), std::string::npos) << forward.err;
  const NamedArrays all = read_arrays(theirs);
  write_arrays(folder / "output.npz", {{"output", *find_array(all, "output")}});
  const CapturedRun both =
      captured_run({"attend", in, "--backward", "--expect", folder / "output.npz"});
  EXPECT_EQ(both.exit_code, 0);
  EXPECT_NE(both.err.find("holds no gradients"), std::string::npos) << both.err;
  write_arrays(folder / "q.npz", {{"grad_q", *find_array(all, "grad_q")}});
  expect_refused({"attend", folder / "qkv.npz", "--expect", folder / "q.npz"}, 2,
                 "--backward compares its gradients");
  write_arrays(folder / "sinks.npz", {{"grad_sinks", p.q}});
  expect_refused({"attend", in, "--backward", "--expect", folder / "sinks.npz"}, 2,
                 "the problem has no sinks");
}

TEST(ProgramBackward, StepsShowTheSoftmaxesJacobian) {
  const Json got = attend_json({"--backward", "--grad-output", "1 0; 0 1", "--steps"});
  EXPECT_EQ(got["grad_weights"], Json::parse("[[1, 3], [2, 4]]"));
  EXPECT_NEAR(got["delta"][0].get<double>(), 1.66047, 1e-5);
  EXPECT_NEAR(got["grad_scores"][1][0].get<double>(), -0.5, 1e-6);
  EXPECT_NEAR(got["grad_products"][1][0].get<double>(), -0.353553, 1e-6);
  const Json masked =
      attend_json({"--backward", "--grad-output", "1 0; 0 1", "--steps", "--causal"});
  EXPECT_TRUE(masked["grad_weights"][0][1].is_null());
  EXPECT_EQ(masked["grad_scores"][0][1], 0);
  const CapturedRun text = captured_run({"attend", "--backward", "--grad-output", "1 0; 0 1"});
  EXPECT_EQ(text.exit_code, 0);
  for (const char* says : {"dP = G V^T", "row 0: 0.6698*1 + 0.3302*3 = 1.6605", "diag(p) - p p^T",
                           "0.6698 * (1 - 1.6605) = -0.4424", "grad_v    (2,2)"}) {
    EXPECT_NE(text.out.find(says), std::string::npos) << says << '\n' << text.out;
  }
}

TEST(ProgramBackward, EveryLineFitsThePage) {
  const ScratchFolder folder;
  const Tensor q = numbers({1, 4, 3, 8}, 1), k = numbers({1, 2, 4, 8}, 2);
  write_arrays(folder / "in.npz", {{"q", q},
                                   {"k", k},
                                   {"v", k},
                                   {"grad_output", q},
                                   {"sinks", numbers({4}, 3)},
                                   {"bias", numbers({1, 4, 1, 4}, 4)},
                                   {"bias_table", numbers({4, 9}, 5)},
                                   {"bucket_table", numbers({4, 8}, 6)}});
  const CapturedRun run =
      captured_run({"attend", folder / "in.npz", "--backward", "--causal", "--buckets", "one-way",
                    "--softcap", "2", "--dropout", "0.25", "--digits", "7"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::size_t first = 0;
  for (std::size_t end = run.out.find('\n'); end != std::string::npos;
       end = run.out.find('\n', first)) {
    EXPECT_LE(end - first, 80u) << run.out.substr(first, end - first);
    first = end + 1;
  }
  for (const char* says : {"grad_bias of head 3", "all queries", "grad_sinks", "bucket 0",
                           "grad_k of key head 1", "This head's part only"}) {
    EXPECT_NE(run.out.find(says), std::string::npos) << says;
  }
}

TEST(ProgramBackward, ExplainSaysWhichPathGoesBack) {
  const Arguments asked{"--backward", "--grad-output", "1 0; 0 1", "--explain", "--path", "oracle"};
  const Json plan = attend_json(asked);
  EXPECT_EQ(plan["backward"]["path"], "oracle");
  EXPECT_EQ(plan["backward"]["reason"], "asked for");
  EXPECT_FALSE(plan["backward"].contains("milliseconds"));
  EXPECT_FALSE(plan.contains("grad_q"));
  Arguments text = asked;
  text.insert(text.begin(), "attend");
  EXPECT_NE(captured_run(text).out.find("oracle on double loops: asked for"), std::string::npos);
}

TEST(ProgramBackward, BadGradOutputsAreRefusedAndNothingIsWritten) {
  const ScratchFolder folder;
  const Problem p;
  write_arrays(folder / "qkv.npz", {{"q", p.q}, {"k", p.k}, {"v", p.v}});
  const std::string out = folder / "out.npz";
  const auto refused = [&](Arguments more, const std::string& says) {
    Arguments line{"attend", folder / "qkv.npz", "--out", out};
    line.insert(line.end(), more.begin(), more.end());
    expect_refused(line, 2, says);
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refused({"--backward"}, "--grad-output");
  refused({"--grad-output", "1 0"}, "--backward");
  refused({"--backward", "--grad-output", "1 0"}, "has the shape (1,2); the output's is (2,4,6,3)");
  const std::string in = p.written(folder / "in.npz");
  expect_refused({"attend", in}, 2, "is what --backward goes by");
  expect_refused({"attend", in, "--backward", "--grad-output", "1"}, 2, "both give the same");
  write_arrays(folder / "int.npz", {{"q", p.q},
                                    {"k", p.k},
                                    {"v", p.v},
                                    {"grad_output", Tensor::zeros(DType::int32, {2, 4, 6, 3})}});
  expect_refused({"attend", folder / "int.npz", "--backward"}, 2, "floating");
}

TEST(ProgramDropout, DrawsBySeedAndKeepsTheRest) {
  const ScratchFolder folder;
  const Problem p;
  write_arrays(folder / "in.npz", {{"q", p.q}, {"k", p.k}, {"v", p.v}});
  const std::string in = folder / "in.npz";
  const Json none = attend_json({in});
  EXPECT_EQ(attend_json({in, "--dropout", "0"})["output"], none["output"]);
  const Json one = attend_json({in, "--dropout", "0.5", "--seed", "1"});
  EXPECT_EQ(attend_json({in, "--dropout", "0.5", "--seed", "1"})["output"], one["output"]);
  EXPECT_NE(attend_json({in, "--dropout", "0.5", "--seed", "2"})["output"], one["output"]);
  EXPECT_NE(one["output"], none["output"]);
  const std::vector<double> lse = flat(one["lse"]), before = flat(none["lse"]);
  for (std::size_t n = 0; n < lse.size(); ++n) EXPECT_NEAR(lse[n], before[n], 1e-6);
  const Json steps = attend_json({in, "--dropout", "0.5", "--seed", "1", "--steps"});
  const std::vector<double> weights = flat(steps["weights"]), dropped = flat(steps["dropped"]);
  std::int64_t kept = 0;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    if (dropped[n] == 0) continue;
    EXPECT_FLOAT_EQ(static_cast<float>(dropped[n]), static_cast<float>(2 * weights[n]));
    ++kept;
  }
  EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(weights.size()), 0.5, 0.1);
}

TEST(ProgramDropout, BadOnesAreRefused) {
  expect_refused({"attend", "--dropout", "1"}, 2, "dropout");
  expect_refused({"attend", "--dropout", "-0.1"}, 2, "dropout");
  expect_refused({"attend", "--dropout", "nan"}, 2, "dropout");
  expect_refused({"attend", "--seed", "3"}, 2, "--dropout");
  expect_refused({"attend", "--dropout", "0.1", "--seed", "-1"}, 2, "--seed");
}

}  // namespace
}  // namespace volvelle::testing
