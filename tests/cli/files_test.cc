// From a user's file to the answer and back: formats, layouts, roles, --out and --expect.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/arrays.h"
#include "support/attend_document.h"
#include "volvelle/attention/attend.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

using Json = nlohmann::json;

// Numbers without a pattern, the same on every run.
Tensor numbers(const Shape& shape, std::uint32_t seed, DType dtype = DType::float32) {
  return filled(dtype, shape, [state = seed]() mutable {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / (1 << 23) - 1.0;
  });
}

struct Problem {
  Tensor q = numbers({2, 4, 6, 5}, 1);
  Tensor k = numbers({2, 2, 9, 5}, 2);
  Tensor v = numbers({2, 2, 9, 3}, 3);
};

// Numbers of float32 are written in float32's shortest form: read back as such, they are the same.
void flatten(const Json& list, std::vector<double>& into) {
  if (!list.is_array()) return into.push_back(list.is_null() ? NAN : list.get<float>());
  for (const Json& one : list) flatten(one, into);
}

std::vector<double> flat(const Json& list) {
  std::vector<double> result;
  flatten(list, result);
  return result;
}

TEST(ProgramFiles, EveryFormatGivesTheSameAnswer) {
  const ScratchFolder folder;
  const Problem p;
  const std::string npz = folder / "in.npz";
  write_arrays(npz, {{"q", p.q}, {"k", p.k}, {"v", p.v}});
  write_arrays(folder / "in.safetensors", {{"q", p.q}, {"k", p.k}, {"v", p.v}});
  const Json first = attend_json({npz, "--causal"});
  EXPECT_EQ(first["output"], attend_json({folder / "in.safetensors", "--causal"})["output"]);
  const AttentionResult direct =
      attend({.q = p.q.view(), .k = p.k.view(), .v = p.v.view(), .causal = true});
  EXPECT_EQ(flat(first["output"]), values_of(direct.output.view()));  // numbers round-trip exactly
  EXPECT_EQ(flat(first["lse"]), values_of(direct.lse.view()));
  EXPECT_EQ(first["shapes"]["output"], Json::parse("[2, 4, 6, 3]"));
}

TEST(ProgramFiles, JsonAndCsvAreFloat32UnlessTold) {
  const ScratchFolder folder;
  const std::string json = write_file(
      folder / "in.json", R"({"q": [[1, 0], [1, 1]], "k": [[1, 0], [0, 1]], "v": [[0.1], [2]]})");
  EXPECT_EQ(attend_json({json})["dtype"], "float32");
  const Json wide = attend_json({json, "--dtype", "float64"});
  EXPECT_EQ(wide["dtype"], "float64");
  EXPECT_EQ(wide["output"][1][0].get<double>(), 1.05);  // 0.1 was not rounded to float32 on the way
  const std::string q = write_file(folder / "q.csv", "1,0\n1,1\n");
  const std::string k = write_file(folder / "k.csv", "1,0\n0,1\n");
  const std::string v = write_file(folder / "v.csv", "0.1\n2\n");
  EXPECT_EQ(attend_json({"--q", q, "--k", k, "--v", v})["output"], attend_json({json})["output"]);
}

TEST(ProgramFiles, LayoutsAreOrdersOfTheSameNumbers) {
  const ScratchFolder folder;
  const Problem p;
  const std::string plain = folder / "bhtd.npz";
  const std::string turned = folder / "bthd.npz";
  write_arrays(plain, {{"q", p.q}, {"k", p.k}, {"v", p.v}});
  const auto bthd = [](const Tensor& array) {  // the memory order of (B,T,H,D)
    const LaidOut out = laid_out(array, Layout::bthd);
    const Shape& s = array.shape();
    return copy_of(View(out.view.data(), array.dtype(), Shape{s[0], s[2], s[1], s[3]}));
  };
  write_arrays(turned, {{"q", bthd(p.q)}, {"k", bthd(p.k)}, {"v", bthd(p.v)}});
  const Json a = attend_json({plain, "--causal"});
  const Json b = attend_json({turned, "--causal", "--layout", "bthd"});
  EXPECT_EQ(b["shapes"]["output"], Json::parse("[2, 6, 4, 3]"));  // the order of the input
  for (int row = 0; row < 2; ++row) {
    for (int h = 0; h < 4; ++h) {
      for (int t = 0; t < 6; ++t) EXPECT_EQ(a["output"][row][h][t], b["output"][row][t][h]);
    }
  }
  EXPECT_EQ(a["lse"], b["lse"]);

  const std::string mine = folder / "mine.npz";
  EXPECT_EQ(
      captured_run({"attend", turned, "--layout", "bthd", "--causal", "--out", mine}).exit_code, 0);
  EXPECT_EQ(
      attend_json({turned, "--layout", "bthd", "--causal", "--expect", mine})["expect"]["max_abs"],
      0);
}

TEST(ProgramFiles, OnePackedArrayHoldsAllThree) {
  const ScratchFolder folder;
  const Tensor packed = numbers({2, 5, 3, 2, 4}, 9);
  write_arrays(folder / "qkv.npz", {{"qkv", packed}});
  const Json got = attend_json({folder / "qkv.npz", "--layout", "bt3hd"});
  EXPECT_EQ(got["shapes"]["q"], Json::parse("[2, 2, 5, 4]"));
  EXPECT_EQ(got["shapes"]["output"], Json::parse("[2, 5, 2, 4]"));
  const auto part = [&](int which) {
    return View(packed.data<float>() + which * 8, Shape{2, 2, 5, 4}, Strides{120, 4, 24, 1});
  };
  const AttentionResult direct = attend({.q = part(0), .k = part(1), .v = part(2)});
  const float* out = direct.output.data<float>();
  EXPECT_EQ(got["output"][1][3][1][2].get<float>(), out[((1 * 2 + 1) * 5 + 3) * 4 + 2]);
  EXPECT_EQ(captured_run({"attend", folder / "qkv.npz"}).exit_code, 2);
}

TEST(ProgramFiles, AxesThatFitTwoReadingsGetARemark) {
  const ScratchFolder folder;
  const Tensor square = numbers({1, 4, 4, 3}, 5);
  write_arrays(folder / "square.npz", {{"q", square}, {"k", square}, {"v", square}});
  const CapturedRun run = captured_run({"attend", folder / "square.npz"});
  EXPECT_NE(run.err.find("bhtd"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("bthd"), std::string::npos) << run.err;
  EXPECT_EQ(captured_run({"attend", folder / "square.npz", "--layout", "bhtd"}).err, "");
  const Tensor long_one = numbers({1, 2, 9, 3}, 5);
  write_arrays(folder / "long.npz", {{"q", long_one}, {"k", long_one}, {"v", long_one}});
  EXPECT_EQ(captured_run({"attend", folder / "long.npz"}).err, "");
}

TEST(ProgramFiles, ArraysInTheFileApplyWithoutAFlag) {
  const ScratchFolder folder;
  const Problem p;
  const Tensor lengths = listed(DType::int64, {2}, {4, 9});
  const Tensor slopes = listed(DType::float32, {4}, {0.5, 0.25, 0.125, 0.0625});
  const Tensor sinks = listed(DType::float32, {4}, {0.5, -1, 0, 2});
  const Tensor bias = numbers({6, 9}, 12);
  Tensor keep = Tensor::zeros(DType::boolean, Shape{2, 1, 6, 9});
  for (std::int64_t i = 0; i < keep.size(); ++i) keep.data<bool>()[i] = i % 5 != 2;
  const Tensor table = numbers({4, 8}, 13);
  const Tensor clamped = numbers({4, 5}, 14);
  const Tensor offset = listed(DType::int64, {2}, {3, -1});
  const Tensor qpos = listed(DType::int64, {6}, {0, 2, 4, 6, 8, 10});
  const Tensor kpos = listed(DType::int64, {2, 9},
                             {0, 1, 2, 3, 4, 5, 6, 7, 8,  //
                              8, 7, 6, 5, 4, 3, 2, 1, 0});
  const Tensor qseg = listed(DType::int64, {2, 6}, {0, 0, 1, 1, 2, 2, 0, 0, 0, 1, 1, 1});
  const Tensor kseg = listed(DType::int64, {2, 9},
                             {0, 0, 0, 1, 1, 1, 2, 2, 2,  //
                              0, 0, 0, 0, 0, 1, 1, 1, 1});
  const std::string file = folder / "all.npz";
  write_arrays(file, {{"q", p.q},
                      {"k", p.k},
                      {"v", p.v},
                      {"key_lengths", lengths},
                      {"slopes", slopes},
                      {"sinks", sinks},
                      {"bias", bias},
                      {"keep", keep},
                      {"bucket_table", table},
                      {"bias_table", clamped},
                      {"query_offset", offset},
                      {"query_positions", qpos},
                      {"key_positions", kpos},
                      {"query_segments", qseg},
                      {"key_segments", kseg}});
  const View repeated(qpos.data<std::int64_t>(), Shape{2, 6}, Strides{0, 1});
  const AttentionProblem problem{.q = p.q.view(),
                                 .k = p.k.view(),
                                 .v = p.v.view(),
                                 .scale = 0.3,
                                 .softcap = 2,
                                 .bias = bias.view(),
                                 .slopes = slopes.view(),
                                 .bias_table = clamped.view(),
                                 .bucket_table = table.view(),
                                 .buckets = Buckets::two_way,
                                 .max_distance = 20,
                                 .query_positions = repeated,
                                 .key_positions = kpos.view(),
                                 .sinks = sinks.view(),
                                 .causal = true,
                                 .query_offset = offset.view(),
                                 .window = 7,
                                 .window_right = 9,
                                 .prefix = 2,
                                 .chunk = 6,
                                 .key_lengths = lengths.view(),
                                 .padding = Padding::left,
                                 .query_segments = qseg.view(),
                                 .key_segments = kseg.view(),
                                 .keep = keep.view()};
  for (const char* path : {"fused", "composed", "oracle"}) {
    const Json got = attend_json({file,
                                  "--scale",
                                  "0.3",
                                  "--softcap",
                                  "2",
                                  "--buckets",
                                  "two-way",
                                  "--max-distance",
                                  "20",
                                  "--causal",
                                  "--window",
                                  "7",
                                  "--window-right",
                                  "9",
                                  "--prefix",
                                  "2",
                                  "--chunk",
                                  "6",
                                  "--padding",
                                  "left",
                                  "--path",
                                  path,
                                  "--entropy",
                                  "--column-sums"});
    const AttentionOptions options{.path = path[0] == 'f'   ? AttentionPath::fused
                                           : path[0] == 'c' ? AttentionPath::composed
                                                            : AttentionPath::oracle};
    const AttentionResult direct = attend(problem, {.entropy = true, .column_sums = true}, options);
    EXPECT_EQ(got["path"], path);
    EXPECT_EQ(flat(got["output"]), values_of(direct.output.view())) << path;
    EXPECT_EQ(flat(got["entropy"]), values_of(direct.entropy.view())) << path;
    EXPECT_EQ(flat(got["column_sums"]), values_of(direct.column_sums.view())) << path;
  }
  EXPECT_EQ(captured_run({"attend", file}).exit_code, 2);  // bucket_table needs --buckets
}

TEST(ProgramFiles, OptionsGiveArraysToo) {
  const ScratchFolder folder;
  const Tensor q = numbers({1, 2, 4, 3}, 21);
  write_arrays(folder / "in.npz", {{"q", q}, {"k", q}, {"v", q}});
  const std::string in = folder / "in.npz";
  const Tensor slopes = listed(DType::float64, {2}, {0.0625, 0.00390625});
  EXPECT_EQ(flat(attend_json({in, "--alibi"})["output"]),
            values_of(attend({.q = q.view(), .k = q.view(), .v = q.view(), .slopes = slopes.view()})
                          .output.view()));
  const Tensor keep =
      listed(DType::int64, {4, 4}, {1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0});
  EXPECT_EQ(flat(attend_json({in, "--keep", "1 0 1 0; 1 1 1 1; 0 0 0 1; 0 0 0 0"})["output"]),
            values_of(attend({.q = q.view(), .k = q.view(), .v = q.view(), .keep = keep.view()})
                          .output.view()));
  const std::string segments = write_file(folder / "seg.csv", "0,0,1,1\n");
  const Tensor ids = listed(DType::int64, {1, 4}, {0, 0, 1, 1});
  EXPECT_EQ(flat(attend_json({in, "--segments", segments})["output"]),
            values_of(attend({.q = q.view(),
                              .k = q.view(),
                              .v = q.view(),
                              .query_segments = ids.view(),
                              .key_segments = ids.view()})
                          .output.view()));
  const Tensor sinks = listed(DType::float32, {2}, {0.5, -1});
  EXPECT_EQ(flat(attend_json({in, "--sinks", "0.5,-1"})["output"]),
            values_of(attend({.q = q.view(), .k = q.view(), .v = q.view(), .sinks = sinks.view()})
                          .output.view()));
}

TEST(ProgramFiles, ProjectionsSplitIntoHeads) {
  const Json got =
      attend_json({"--x", "1 0; 0 1; 1 1", "--wq", "1 0 2 0; 0 1 0 2", "--wk", "1 0; 0 1", "--wv",
                   "1 2 3; 4 5 6", "--heads", "2", "--key-heads", "1"});
  EXPECT_EQ(got["shapes"]["q"], Json::parse("[2, 3, 2]"));
  EXPECT_EQ(got["shapes"]["k"], Json::parse("[1, 3, 2]"));
  EXPECT_EQ(got["shapes"]["output"], Json::parse("[2, 3, 3]"));
  const Json head =
      attend_json({"--q", "2 0; 0 2; 2 2", "--k", "1 0; 0 1; 1 1", "--v", "1 2 3; 4 5 6; 5 7 9"});
  EXPECT_EQ(got["output"][1], head["output"]);
}

TEST(ProgramFiles, OutHoldsWhatWasAskedAndTheJsonLeavesItOut) {
  const ScratchFolder folder;
  const std::string out = folder / "out.npz";
  const Json got = attend_json(
      {"--causal", "--query-offset", "-1", "--steps", "--entropy", "--column-sums", "--out", out});
  EXPECT_FALSE(got.contains("output"));
  EXPECT_EQ(got["out"], out);
  const NamedArrays arrays = read_arrays(out);
  for (const char* name : {"output", "lse", "entropy", "column_sums", "scores", "scaled",
                           "excluded", "exponentials", "weights", "weights_unscaled", "row_sums"}) {
    EXPECT_NE(find_array(arrays, name), nullptr) << name;
  }
  EXPECT_TRUE(find_array(arrays, "weights")->shape() == (Shape{2, 2}));
  EXPECT_EQ(find_array(arrays, "lse")->data<float>()[0], -INFINITY);  // stays -inf in a file
  EXPECT_EQ(captured_run({"attend", "--out", folder / "half.npz", "--dtype", "bfloat16"}).exit_code,
            0);
  EXPECT_EQ(find_array(read_arrays(folder / "half.npz"), "output")->dtype(), DType::float32);
}

TEST(ProgramFiles, ExpectAgreesWithItselfAndNamesAMistake) {
  const ScratchFolder folder;
  const Tensor q = numbers({1, 2, 40, 8}, 31);
  const Tensor k = numbers({1, 2, 40, 8}, 32);
  const std::string in = folder / "in.npz";
  const std::string theirs = folder / "theirs.npz";
  write_arrays(in, {{"q", q}, {"k", k}, {"v", numbers({1, 2, 40, 8}, 33)}});
  EXPECT_EQ(captured_run({"attend", in, "--causal", "--window", "9", "--out", theirs}).exit_code,
            0);

  const Json same =
      attend_json({in, "--causal", "--window", "9", "--path", "oracle", "--expect", theirs});
  EXPECT_EQ(same["expect"]["matches"], true);
  EXPECT_EQ(same["expect"]["failing_rows"], 0);

  const Json other = attend_json({in, "--causal", "--window", "8", "--expect", theirs}, 3);
  const Json& expect = other["expect"];
  EXPECT_EQ(expect["matches"], false);
  EXPECT_GT(expect["failing_rows"].get<int>(), 0);
  EXPECT_EQ(expect["heads"].size(), 2u);
  EXPECT_EQ(expect["at"].size(), 4u);
  EXPECT_GT(expect["max_abs"].get<double>(), 1e-3);
  EXPECT_FALSE(expect["worst_rows"].empty());
  EXPECT_TRUE(expect.contains("max_rel"));
  EXPECT_TRUE(expect.contains("tolerance"));
  ASSERT_FALSE(expect["diagnosis"].empty());
  EXPECT_EQ(expect["diagnosis"][0]["sentence"], "your result equals attention with window 9");

  const CapturedRun text =
      captured_run({"attend", in, "--causal", "--window", "8", "--expect", theirs});
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_NE(text.out.find("your result equals attention with window 9"), std::string::npos)
      << text.out;
  EXPECT_EQ(
      captured_run({"attend", in, "--causal", "--window", "8", "--expect", theirs, "--atol", "100"})
          .exit_code,
      0);
  write_arrays(folder / "none.npz", {{"other", q}});
  EXPECT_EQ(captured_run({"attend", in, "--expect", folder / "none.npz"}).exit_code, 2);
}

TEST(ProgramFiles, ExpectSaysWhenOnlyTheOrderOfAxesDiffers) {
  const ScratchFolder folder;
  const Tensor q = numbers({1, 2, 20, 4}, 51);
  const std::string in = folder / "in.npz";
  write_arrays(in, {{"q", q}, {"k", q}, {"v", q}});
  const AttentionResult ours = attend({.q = q.view(), .k = q.view(), .v = q.view()});
  const View out = ours.output.view();
  const Tensor turned = copy_of(
      View(out.data(), out.dtype(), Shape{1, 20, 2, 4}, Strides{160, 4, 80, 1}));  // (B,T,H,E)
  write_arrays(folder / "turned.npz", {{"output", turned}});
  const CapturedRun run = captured_run({"attend", in, "--expect", folder / "turned.npz"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_NE(run.out.find("in the order of its axes only"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("output in (B,T,H,E) order"), std::string::npos) << run.out;

  const Tensor qt = copy_of(View(q.raw(), q.dtype(), Shape{1, 20, 2, 4}, Strides{160, 4, 80, 1}));
  write_arrays(folder / "in_bthd.npz", {{"q", qt}, {"k", qt}, {"v", qt}});
  write_arrays(folder / "plain.npz", {{"output", ours.output}});
  const CapturedRun other = captured_run(
      {"attend", folder / "in_bthd.npz", "--layout", "bthd", "--expect", folder / "plain.npz"});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_NE(other.out.find("output in (B,H,T,E) order"), std::string::npos) << other.out;
}

TEST(ProgramFiles, ALargeProblemIsSummarised) {
  const ScratchFolder folder;
  const Tensor q = numbers({1, 2, 300, 8}, 41);
  write_arrays(folder / "in.npz", {{"q", q}, {"k", q}, {"v", q}});
  const CapturedRun run = captured_run(
      {"attend", folder / "in.npz", "--causal", "--entropy", "--column-sums", "--weights"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* text : {"(1,2,300,8)", "fused", "tiles", "mean", "GFLOP/s", "% of this", "peak",
                           "head 1  |", "query 299", "key 299"}) {
    EXPECT_NE(run.out.find(text), std::string::npos) << text << " is missing in\n" << run.out;
  }
}

TEST(ProgramFiles, ALongSequenceKeepsMemoryBounded) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  const ScratchFolder folder;
  const std::string in = folder / "long.npz";
  const Tensor q = numbers({65536, 64}, 61);
  write_arrays(in, {{"q", q}, {"k", q}, {"v", q}});
  const CapturedRun run = captured_run({"attend", in, "--causal", "--window", "256"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(run.peak_kilobytes, 200'000);
}

TEST(ProgramFiles, SeenPairsAreThoseThatAreNotExcluded) {
  const ScratchFolder folder;
  const std::string in = folder / "in.npz";
  write_arrays(in, {{"q", numbers({2, 2, 7, 3}, 1)},
                    {"k", numbers({2, 2, 11, 3}, 2)},
                    {"v", numbers({2, 2, 11, 3}, 3)}});
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{},
        {"--causal"},
        {"--causal", "--align", "top-left"},
        {"--causal", "--query-offset", "-3,20"},
        {"--window", "3"},
        {"--window-right", "2"},
        {"--causal", "--window", "4", "--prefix", "2"},
        {"--chunk", "4"},
        {"--chunk", "4", "--query-offset", "-5"},
        {"--key-lengths", "3,11"},
        {"--key-lengths", "3,0", "--padding", "left", "--causal"},
        {"--window", "1000000", "--query-offset", "999990"}}) {
    std::vector<std::string> arguments{in, "--steps"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Json got = attend_json(arguments);
    std::int64_t seen = 0;
    for (const double score : flat(got["scores"])) seen += std::isnan(score) ? 0 : 1;
    EXPECT_EQ(got["seen_pairs"].get<std::int64_t>(), seen) << (options.empty() ? "" : options[0]);
  }
  EXPECT_FALSE(
      attend_json({in, "--keep", "1"}).contains("seen_pairs"));  // would have to be counted
}

TEST(ProgramFiles, TextIsReadExactlyBeforeItsRoleIsKnown) {
  const ScratchFolder folder;
  std::string k = "[[1, 2]";
  for (int i = 1; i < 2100; ++i) k += ", [1, 2]";
  k += "]";
  // 2049.0 is no float16; as a length it must not become 2048 on the way.
  const std::string in =
      write_file(folder / "in.json", R"({"q": [[1.5, 2]], "key_lengths": [2049.0], "k": )" + k +
                                         R"(, "v": )" + k + "}");
  EXPECT_EQ(attend_json({in, "--dtype", "float16"})["seen_pairs"], 2049);
}

TEST(ProgramFiles, EmptyProblemsRun) {
  const ScratchFolder folder;
  write_arrays(folder / "no_keys.npz", {{"q", numbers({3, 2}, 1)},
                                        {"k", Tensor(DType::float32, {0, 2})},
                                        {"v", Tensor(DType::float32, {0, 2})}});
  write_arrays(folder / "no_queries.npz", {{"q", Tensor(DType::float32, {0, 2})},
                                           {"k", numbers({3, 2}, 1)},
                                           {"v", numbers({3, 2}, 1)}});
  for (const char* name : {"no_keys.npz", "no_queries.npz"}) {
    const CapturedRun run = captured_run({"attend", folder / name});
    EXPECT_EQ(run.exit_code, 0) << name << run.err;
  }
  EXPECT_EQ(attend_json({folder / "no_keys.npz"})["output"], Json::parse("[[0,0],[0,0],[0,0]]"));
  EXPECT_EQ(attend_json({folder / "no_queries.npz"})["output"], Json::parse("[]"));
}

}  // namespace
}  // namespace volvelle::testing
