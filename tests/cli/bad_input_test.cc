// Files and shapes that are wrong: a clear message, exit 1 for a bad file and 2 for a bad request.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "support/attend_document.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

void expect_refused(const std::vector<std::string>& arguments, int code, const std::string& says) {
  const CapturedRun run = captured_run(arguments);
  EXPECT_EQ(run.exit_code, code) << arguments[1] << '\n' << run.err;
  EXPECT_EQ(run.out, "") << arguments[1];
  EXPECT_NE(run.err.find(says), std::string::npos) << "said: " << run.err;
  EXPECT_LT(run.err.size(), 2000u);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A good .npz to spoil, with extra arrays.
std::string written(const std::string& path, const NamedArrays& extra = {}, Shape q = {2, 2, 3, 4},
                    Shape k = {2, 2, 5, 4}, Shape v = {2, 2, 5, 4}) {
  NamedArrays arrays{{"q", Tensor::zeros(DType::float32, q)},
                     {"k", Tensor::zeros(DType::float32, k)},
                     {"v", Tensor::zeros(DType::float32, v)}};
  arrays.insert(arrays.end(), extra.begin(), extra.end());
  write_arrays(path, arrays, {.force = true});
  return path;
}

TEST(ProgramBadInput, FilesThatAreNotWhatTheyAreNamed) {
  const ScratchFolder folder;
  expect_refused({"attend", folder / "none.npz"}, 1, "No such file");
  expect_refused({"attend", write_file(folder / "empty.npz", "")}, 1, "empty.npz");
  expect_refused({"attend", write_file(folder / "page.npz", "<!DOCTYPE html><html></html>")}, 1,
                 "HTML");
  const std::string good = bytes_of(written(folder / "good.npz"));
  expect_refused({"attend", write_file(folder / "cut.npz", good.substr(0, good.size() / 2))}, 1,
                 "cut.npz");
  const std::string zip = write_file(folder / "zip.npy", good);
  expect_refused({"attend", "--q", zip, "--k", zip, "--v", zip}, 1, "zip.npy");
  const std::string pickle = write_file(folder / "p.npy", "\x80\x04\x95\x10");
  expect_refused({"attend", "--q", pickle, "--k", pickle, "--v", pickle}, 1, "p.npy");
  const std::string pointer = write_file(
      folder / "lfs.npy", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  expect_refused({"attend", "--q", pointer, "--k", pointer, "--v", pointer}, 1, "lfs.npy");
  expect_refused({"attend", write_file(folder / "deep.json", std::string(100000, '['))}, 1,
                 "deep.json");
  expect_refused({"attend", write_file(folder / "r.json", R"({"q": [[1], [1, 2]]})")}, 1, "r.json");
  const std::string ragged = write_file(folder / "r.csv", "1,2\n3\n");
  expect_refused({"attend", "--q", ragged, "--k", ragged, "--v", ragged}, 1, "r.csv");
  expect_refused({"attend", write_file(folder / "x.foo", "1 2")}, 2, "x.foo");
  std::filesystem::create_directory(folder / "dir.npz");
  expect_refused({"attend", folder / "dir.npz"}, 1, "dir.npz");
}

TEST(ProgramBadInput, ArraysThatAttentionHasNoUseFor) {
  const ScratchFolder folder;
  const Tensor one = Tensor::zeros(DType::float32, Shape{1});
  const std::string odd = written(folder / "odd.npz", {{"kee", one}});
  expect_refused({"attend", odd}, 2, "'kee'");
  expect_refused({"attend", written(folder / "kep.npz", {{"kepe", one}})}, 2,
                 "did you mean 'keep'?");
  const CapturedRun result = captured_run({"attend", written(folder / "o.npz", {{"output", one}})});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("remark"), std::string::npos);
  write_arrays(folder / "qk.npz", {{"q", one}, {"k", one}});
  expect_refused({"attend", folder / "qk.npz"}, 2, "no 'v'");
}

TEST(ProgramBadInput, ShapesThatDoNotFit) {
  const ScratchFolder folder;
  expect_refused(
      {"attend", written(folder / "h.npz", {}, {1, 3, 2, 4}, {1, 2, 2, 4}, {1, 2, 2, 4})}, 2,
      "[attend] H=3 is not a multiple of G=2");
  expect_refused(
      {"attend", written(folder / "d.npz", {}, {1, 2, 2, 4}, {1, 2, 2, 5}, {1, 2, 2, 4})}, 2,
      "(1,2,2,5)");
  expect_refused(
      {"attend", written(folder / "s.npz", {}, {1, 2, 2, 4}, {1, 2, 3, 4}, {1, 2, 2, 4})}, 2,
      "(1,2,3,4)");
  const std::string good = written(folder / "good.npz");
  expect_refused({"attend", good, "--key-lengths", "6,1"}, 2, "6");
  expect_refused({"attend", good, "--key-lengths", "1,2,3"}, 2, "(3,)");
  expect_refused({"attend", good, "--segments", "0 0 0"}, 2, "T=3 and S=5");
  expect_refused({"attend", good, "--keep", "1 0 1"}, 2, "keep");
  expect_refused({"attend", good, "--sinks", "1,2,3"}, 2, "sinks");
  expect_refused({"attend", good, "--layout", "bt3hd"}, 2, "qkv");
  expect_refused({"attend", "--x", "1 0", "--wq", "1;1;1", "--wk", "1;1", "--wv", "1;1"}, 2, "C=2");
  expect_refused(
      {"attend", "--x", "1 0", "--wq", "1 1 1;1 1 1", "--wk", "1;1", "--wv", "1;1", "--heads", "2"},
      2, "2 heads");
}

TEST(ProgramBadInput, ValuesThatBreakARule) {
  expect_refused({"attend", "--scale", "nan"}, 2, "scale");
  expect_refused({"attend", "--window", "-1"}, 2, "window");
  expect_refused({"attend", "--window-right", "-1"}, 2, "window_right");
  expect_refused({"attend", "--chunk", "-1"}, 2, "chunk");
  expect_refused({"attend", "--causal", "--prefix", "-1"}, 2, "prefix");
  expect_refused({"attend", "--softcap", "-1"}, 2, "softcap");
  expect_refused({"attend", "--key-lengths", "-1"}, 2, "key_lengths");
  expect_refused({"attend", "--q", "1 0; 1", "--k", "1 0", "--v", "1 0"}, 2, "row 2");
}

TEST(ProgramBadInput, DtypesThatDoNotFit) {
  const ScratchFolder folder;
  const Tensor whole = Tensor::zeros(DType::int64, Shape{2, 2});
  write_arrays(folder / "int.npz", {{"q", whole}, {"k", whole}, {"v", whole}});
  expect_refused({"attend", folder / "int.npz"}, 2, "--dtype");
  EXPECT_EQ(attend_json({folder / "int.npz", "--dtype", "float64"})["dtype"], "float64");

  const Tensor single = Tensor::zeros(DType::float32, Shape{2, 2});
  const Tensor twice = Tensor::zeros(DType::float64, Shape{2, 2});
  write_arrays(folder / "mixed.npz", {{"q", single}, {"k", twice}, {"v", single}});
  expect_refused({"attend", folder / "mixed.npz"}, 2, "float64");

  const std::string mask = folder / "mask.npz";
  write_arrays(mask, {{"q", single}, {"k", single}, {"v", single}, {"keep", single}});
  expect_refused({"attend", mask}, 2, "additive bias");
  expect_refused({"attend", "--keep", "0.5 1; 1 1"}, 2, "additive bias");
  expect_refused({"attend", "--keep", "2 1; 1 1"}, 2, "keep");
  expect_refused({"attend", "--segments", "0.5 1"}, 2, "no whole number");
}

TEST(ProgramBadInput, OutputsThatCannotBeWritten) {
  const ScratchFolder folder;
  const std::string there = write_file(folder / "there.npz", "mine");
  expect_refused({"attend", "--out", there}, 1, "there.npz");
  EXPECT_EQ(bytes_of(there), "mine");
  expect_refused({"attend", "--out", folder / "no/such.npz"}, 1, "no/such.npz");
  expect_refused({"attend", "--out", folder / "out.txt"}, 2, "out.txt");
  EXPECT_EQ(captured_run({"attend", "--out", there, "--force"}).exit_code, 0);
  EXPECT_NE(bytes_of(there), "mine");
}

// What fills a disk fills a limit on the size of files too, and needs no disk of its own.
TEST(ProgramBadInput, AnOutputThatDoesNotFitLeavesNothingBehind) {
  const ScratchFolder folder;
  const std::string input = written(folder / "in.npz", {}, {1, 256, 64}, {1, 4, 64}, {1, 4, 64});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{16384, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);  // the program inherits it
  const CapturedRun run = captured_run({"attend", input, "--out", folder / "out.npz"});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find("out.npz"), std::string::npos) << run.err;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / ".")) {
    EXPECT_EQ(entry.path().filename(), "in.npz");
    ++files;
  }
  EXPECT_EQ(files, 1);
}

}  // namespace
}  // namespace volvelle::testing
