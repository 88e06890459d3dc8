#pragma once

#include <vector>

#include "volvelle/autograd/tape.h"

namespace volvelle {

/// While one lives, leaves that require a gradient and that operators on this thread read are
/// listed, each once, with the version that they had: what a function reached by itself.
class ReachedLeaves {
 public:
  ReachedLeaves();
  ~ReachedLeaves();
  ReachedLeaves(const ReachedLeaves&) = delete;
  ReachedLeaves& operator=(const ReachedLeaves&) = delete;

  std::vector<Saved> take() { return std::move(leaves_); }

  /// Whether what runs on this thread now will be run again on the way back.
  static bool is_listing();
  /// To be called with what operators read.
  static void note(const Variable& input);

 private:
  ReachedLeaves* before_;
  std::vector<Saved> leaves_;
  std::vector<const void*> known_;  ///< their states, sorted
};

}  // namespace volvelle
