#include "io/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // Linux writes at most 2 GiB a call

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw IoError("[write] " + path + ": " + why);
}

std::string system_message(int code) { return std::generic_category().message(code); }

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Renames without ever replacing a file, also when another process makes one at this moment.
int rename_to_new(const std::string& from, const std::string& to) {
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;  // the file system lacks the flag
#endif
  if (::link(from.c_str(), to.c_str()) != 0) return -1;
  return ::unlink(from.c_str());
}

}  // namespace

void NewFile::check(const std::string& path, bool replace) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) refuse(path, "this is a folder");
    if (!S_ISREG(status.st_mode)) refuse(path, "this is not a regular file");
    if (!replace) refuse(path, "the file exists; pass --force (WriteOptions::force) to replace it");
  } else if (errno != ENOENT) {
    refuse(path, system_message(errno));
  }
  const std::string folder = folder_of(path);
  if (::stat(folder.c_str(), &status) != 0) refuse(path, "the folder " + folder + " is missing");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(path, "the folder " + folder + " cannot be written to: " + system_message(errno));
  }
}

NewFile::NewFile(const std::string& path, bool replace)
    : path_(path), target_(path), replace_(replace) {
  check(path, replace);
  // A link is kept and the file it points to replaced.
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) {
    const std::filesystem::path real = std::filesystem::weakly_canonical(path, ignored);
    if (!ignored) target_ = real.string();
  }
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
    temporary_ = folder_of(target_) + "/.volvelle-" + std::to_string(::getpid()) + "-" +
                 std::to_string(counter++) + ".tmp";
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    const int code = errno;
    temporary_.clear();
    refuse(path, "no file can be made in " + folder_of(target_) + ": " + system_message(code));
  }
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::fail(const std::string& why) const {
  refuse(path_, why + "; nothing was left behind");
}

void NewFile::write(const void* data, std::size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, from, std::min(size, kMostAtOnce));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(system_message(errno));
    }
    from += written;
    size -= static_cast<std::size_t>(written);
  }
}

void NewFile::commit() {
  if (::fsync(descriptor_) != 0) fail(system_message(errno));
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail(system_message(errno));
  const int renamed =
      replace_ ? ::rename(temporary_.c_str(), target_.c_str()) : rename_to_new(temporary_, target_);
  if (renamed != 0) {
    fail(errno == EEXIST ? "the file has come to exist meanwhile" : system_message(errno));
  }
  temporary_.clear();
  // The name itself is on the disk once the folder is. The file is whole already, so a file system
  // that cannot synchronise a folder is no reason to report failure.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
}

}  // namespace volvelle
