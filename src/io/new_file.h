#pragma once

#include <string>

#include "io/bytes.h"

namespace volvelle {

/// A file that appears under its name whole or not at all: written under a temporary name in the
/// same folder, synchronised, renamed. Until `commit` returns, an existing file is unchanged;
/// destroyed before, the object leaves nothing behind.
class NewFile final : public ByteSink {
 public:
  /// Throws IoError: the file exists and `replace` is not set, it is not a regular file, the folder
  /// is missing or not writable.
  NewFile(const std::string& path, bool replace);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() override;

  /// Throws IoError: the disk is full, a limit is reached.
  void write(const void* data, std::size_t size) override;
  /// Throws IoError, also when the file has come to exist meanwhile and `replace` is not set.
  void commit();

  /// What the constructor would throw now.
  static void check(const std::string& path, bool replace);

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::string path_;       // as given, for messages
  std::string target_;     // where it ends up: symbolic links are followed
  std::string temporary_;  // empty once it has been renamed
  int descriptor_ = -1;
  bool replace_;
};

}  // namespace volvelle
