#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "volvelle/base/export.h"

namespace volvelle {

/// Base of everything the library throws. The message names the operation in brackets, the rule
/// that was broken, the values that broke it and, where there is one, the remedy:
/// `[attend] H=12 is not a multiple of G=5 (q (2,12,64,32), k (2,5,64,32))`.
class VOLVELLE_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A caller's value breaks a rule of the operation: shapes that do not fit, a negative window.
class VOLVELLE_API InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A legal request that no path of this build can carry out.
class VOLVELLE_API Unsupported : public Error {
 public:
  using Error::Error;
};

/// A file whose bytes are not what its format demands.
class VOLVELLE_API FormatError : public Error {
 public:
  /// `file` is the name shown to the user, `offset` the byte at which reading failed (-1 where
  /// none applies) and `problem` what was found and what was expected.
  FormatError(const std::string& file, std::int64_t offset, const std::string& problem);

  const std::string& file() const noexcept { return file_; }
  std::int64_t offset() const noexcept { return offset_; }

 private:
  std::string file_;
  std::int64_t offset_;
};

/// The system refused: a missing file, a full disk, no memory.
class VOLVELLE_API IoError : public Error {
 public:
  using Error::Error;
};

/// A fault of Volvelle itself; the message asks for a report.
class VOLVELLE_API InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace volvelle
