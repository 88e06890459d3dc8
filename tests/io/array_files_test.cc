#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "io/mapped_file.h"
#include "io/new_file.h"
#include "sources.h"
#include "volvelle/io/arrays.h"

namespace volvelle {
namespace {

using namespace volvelle::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ArrayFiles : public FolderTest {
 protected:
  NamedArrays two_arrays() const {
    return {{"output", parse_inline("1.5 2; 3 4")}, {"lse", parse_inline("-inf 0.5")}};
  }
};

TEST_F(ArrayFiles, WhatIsWrittenIsRead) {
  for (const char* name : {"x.npz", "x.safetensors", "x.NPZ"}) {
    SCOPED_TRACE(name);
    write_arrays(in_folder(name), two_arrays());
    const NamedArrays back = read_arrays(in_folder(name));
    EXPECT_EQ(values_of(*find_array(back, "output")), values_of(two_arrays()[0].array));
    EXPECT_EQ(find_array(back, "lse")->data<float>()[0], -HUGE_VALF);
  }
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(ArrayFiles, EveryExtensionFindsItsReader) {
  store(in_folder("x.csv"), "1,2\n");
  store(in_folder("x.tsv"), "1\t2\n");
  store(in_folder("x.txt"), "1 2\n");
  store(in_folder("x.json"), "[[1, 2]]");
  for (const char* name : {"x.csv", "x.tsv", "x.txt", "x.json"}) {
    EXPECT_THAT(values_of(read_array(in_folder(name))), ElementsAre(1, 2)) << name;
  }
  EXPECT_EQ(read_array(golden_path("f4.npy")).shape(), (Shape{2, 3}));
  store(in_folder("y.json"), "{\"q\": [1]}");
  EXPECT_EQ(read_arrays(in_folder("y.json")).size(), 1u);
  EXPECT_TRUE(holds_named_arrays("a/b.NPZ"));
  EXPECT_TRUE(holds_named_arrays("b.safetensors"));
  EXPECT_TRUE(holds_named_arrays("b.json"));
  EXPECT_FALSE(holds_named_arrays("a.npz/b"));
  EXPECT_FALSE(holds_named_arrays("b.npy"));
}

TEST_F(ArrayFiles, UnknownExtensionsListTheKnownOnes) {
  EXPECT_REFUSED(read_arrays("x.bin"), InvalidArgument, "the extension is '.bin'");
  EXPECT_REFUSED(read_arrays("x"), InvalidArgument, "no extension");
  EXPECT_REFUSED(read_arrays("x.npy"), InvalidArgument, "holds one array and no names");
  EXPECT_REFUSED(read_array("x.bin"), InvalidArgument, "one array is read from .npy");
  EXPECT_REFUSED(read_array("x.npz"), InvalidArgument, "such a file holds named arrays");
  EXPECT_REFUSED(write_arrays(in_folder("x.npy"), two_arrays()), InvalidArgument,
                 "arrays are written to .npz and .safetensors");
  EXPECT_REFUSED(check_output_path(in_folder("x.json")), InvalidArgument, "are written to");
}

TEST_F(ArrayFiles, FilesThatCannotBeReadSayWhy) {
  EXPECT_REFUSED(read_array(in_folder("none.npy")), IoError, "No such file or directory");
  ASSERT_EQ(mkdir(in_folder("folder.npy").c_str(), 0777), 0);
  EXPECT_REFUSED(read_array(in_folder("folder.npy")), IoError, "this is a folder, not a file");
  store(in_folder("empty.npz"), "");
  EXPECT_REFUSED(read_arrays(in_folder("empty.npz")), FormatError, "the file is empty");
  ASSERT_EQ(mkfifo(in_folder("pipe.npy").c_str(), 0666), 0);
  EXPECT_REFUSED(read_array(in_folder("pipe.npy")), IoError, "a pipe or device");
  ASSERT_EQ(symlink("loop.npy", in_folder("loop.npy").c_str()), 0);
  EXPECT_REFUSED(read_array(in_folder("loop.npy")), IoError, "symbolic links");
  store(in_folder("locked.npy"), golden("f4.npy"));
  ASSERT_EQ(chmod(in_folder("locked.npy").c_str(), 0), 0);
  if (geteuid() != 0) {  // root may read everything
    EXPECT_REFUSED(read_array(in_folder("locked.npy")), IoError, "Permission denied");
  }
}

TEST_F(ArrayFiles, ArraysOfAMappedFileOutliveItsNameAndNeverChangeIt) {
  const std::string path = in_folder("x.npy");
  store(path, golden("f4.npy"));
  Tensor array = read_array(path);
  array.data<float>()[0] = 7;
  EXPECT_EQ(contents_of(path), golden("f4.npy"));
  std::filesystem::remove(path);
  EXPECT_THAT(values_of(array), ElementsAre(7, 0.5, 1, 1.5, 2, 2.5));
}

TEST_F(ArrayFiles, AnExistingFileIsKeptUnlessForced) {
  const std::string path = in_folder("x.npz");
  store(path, "precious");
  EXPECT_REFUSED(write_arrays(path, two_arrays()), IoError, "the file exists; pass --force");
  EXPECT_REFUSED(check_output_path(path), IoError, "the file exists");
  EXPECT_EQ(contents_of(path), "precious");
  check_output_path(path, {.force = true});
  write_arrays(path, two_arrays(), {.force = true});
  EXPECT_EQ(read_arrays(path).size(), 2u);
  EXPECT_THAT(files(), ElementsAre("x.npz"));
}

TEST_F(ArrayFiles, AFileCanBeReplacedByWhatWasReadFromIt) {
  const std::string path = in_folder("x.safetensors");
  write_arrays(path, two_arrays());
  write_arrays(path, read_arrays(path), {.force = true});
  EXPECT_EQ(values_of(read_arrays(path)[0].array), values_of(two_arrays()[0].array));
}

TEST_F(ArrayFiles, PlacesThatCannotBeWrittenSayWhy) {
  EXPECT_REFUSED(write_arrays(in_folder("none/x.npz"), two_arrays()), IoError, "/none is missing");
  ASSERT_EQ(mkdir(in_folder("folder.npz").c_str(), 0777), 0);
  EXPECT_REFUSED(write_arrays(in_folder("folder.npz"), two_arrays(), {.force = true}), IoError,
                 "this is a folder");
  ASSERT_EQ(mkfifo(in_folder("pipe.npz").c_str(), 0666), 0);
  EXPECT_REFUSED(write_arrays(in_folder("pipe.npz"), two_arrays(), {.force = true}), IoError,
                 "not a regular file");
  store(in_folder("file"), "x");
  EXPECT_REFUSED(write_arrays(in_folder("file/x.npz"), two_arrays()), IoError, "Not a directory");
  EXPECT_REFUSED(write_arrays("/proc/x.npz", two_arrays()), IoError,
                 "no file can be made in /proc");
  EXPECT_REFUSED(check_output_path(in_folder("none/x.npz")), IoError, "is missing");
  if (geteuid() != 0) {
    ASSERT_EQ(chmod(folder_.c_str(), 0555), 0);
    EXPECT_REFUSED(check_output_path(in_folder("x.npz")), IoError, "cannot be written to");
    ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  }
}

TEST_F(ArrayFiles, ALinkIsKeptAndItsTargetReplaced) {
  store(in_folder("real.npz"), "old");
  ASSERT_EQ(symlink("real.npz", in_folder("link.npz").c_str()), 0);
  write_arrays(in_folder("link.npz"), two_arrays(), {.force = true});
  EXPECT_TRUE(std::filesystem::is_symlink(in_folder("link.npz")));
  EXPECT_EQ(read_arrays(in_folder("real.npz")).size(), 2u);
}

TEST_F(ArrayFiles, NamesAndArraysAreCheckedBeforeAnythingIsMade) {
  const Tensor one = parse_inline("1");
  const std::string path = in_folder("x.npz");
  EXPECT_REFUSED(write_arrays(path, {{"", one}}), InvalidArgument, "is empty");
  EXPECT_REFUSED(write_arrays(path, {{"\xff", one}}), InvalidArgument, "not UTF-8");
  EXPECT_REFUSED(write_arrays(path, {{std::string("a\0b", 3), one}}), InvalidArgument, "zero byte");
  EXPECT_REFUSED(write_arrays(path, {{"a", one}, {"a", one}}), InvalidArgument,
                 "two arrays are called 'a'");
  EXPECT_REFUSED(write_arrays(path, {{"a", {}}}), InvalidArgument, "'a' is absent");
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(ArrayFiles, AFullDiskLeavesNothingBehind) {
  // A child with a limit on file sizes stands for the full disk: write fails in the middle.
  const std::string path = in_folder("x.npz");
  const NamedArrays arrays{{"a", Tensor::zeros(DType::float32, {100000})}};
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{65536, 65536};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_arrays(path, arrays);
    } catch (const IoError& error) {
      _exit(std::string(error.what()).find("nothing was left behind") != std::string::npos ? 7 : 8);
    }
    _exit(9);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(ArrayFiles, AFileThatAppearsMeanwhileIsNotReplaced) {
  const std::string path = in_folder("x.npz");
  {
    NewFile file(path, false);
    file.write("new", 3);
    store(path, "other");
    EXPECT_REFUSED(file.commit(), IoError, "has come to exist meanwhile");
  }
  EXPECT_EQ(contents_of(path), "other");
  EXPECT_THAT(files(), ElementsAre("x.npz"));
}

TEST_F(ArrayFiles, AFileThatIsNotCommittedLeavesNothing) {
  {
    NewFile file(in_folder("x.npz"), false);
    file.write("half", 4);
    EXPECT_EQ(files().size(), 1u);
  }
  EXPECT_THAT(files(), IsEmpty());
}

}  // namespace
}  // namespace volvelle
