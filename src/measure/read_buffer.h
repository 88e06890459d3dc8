#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned_memory.h"

namespace volvelle {

/// Memory that is read in order, over and over, to see how fast that goes. Larger than any cache
/// when it is to say something about memory.
class ReadBuffer {
 public:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;

  /// Whole blocks of `bytes`, written once so that the system has given every page. Throws IoError
  /// when the memory cannot be had.
  ReadBuffer(std::size_t bytes, int threads);

  /// Reads the next `blocks` blocks, from the first one again behind the last; GB/s of all threads
  /// together. Each block is timed by itself and the median taken, so that an interrupt or a worker
  /// that is late does not count.
  double read_gbs(std::int64_t blocks, int threads);
  std::int64_t blocks() const { return blocks_; }

 private:
  Workspace memory_;
  float* data_ = nullptr;
  std::int64_t blocks_ = 0;
  std::int64_t next_ = 0;
};

}  // namespace volvelle
