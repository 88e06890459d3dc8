#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw IoError("[read] " + path + ": " + why);
}

std::string system_message() { return std::generic_category().message(errno); }

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

Source map_file(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) fail(path, system_message());
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) fail(path, system_message());
  if (S_ISDIR(status.st_mode)) fail(path, "this is a folder, not a file");
  if (!S_ISREG(status.st_mode)) {
    fail(path, "this is a pipe or device; files are mapped, so store it in a regular file first");
  }
  if (status.st_size == 0) throw FormatError(path, -1, "the file is empty");
  if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::size_t>::max()) {
    fail(path, "too large for the address space of this machine");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.number(), 0);
  if (data == MAP_FAILED) {
    fail(path, "cannot be mapped (" + std::to_string(size) + " bytes): " + system_message());
  }
  std::shared_ptr<void> owner(data, [size](void* start) { ::munmap(start, size); });
  return {path, Bytes(static_cast<const std::byte*>(data), size), std::move(owner)};
}

}  // namespace volvelle
