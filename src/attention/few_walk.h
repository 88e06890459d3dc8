#pragma once

#include <cstdint>

#include "attention/exclusion.h"
#include "attention/few_call.h"
#include "base/aligned_memory.h"

namespace volvelle {

/// One thread's walk over the keys of one part.
class FewWalk {
 public:
  FewWalk(const FewCall& call, Workspace& workspace);

  /// Leaves the running state of a task's part in its place.
  void run(std::int64_t task, bool moment);

 private:
  std::size_t carve(void* base);
  void open(float* part, bool moment);
  /// Points the step at keys [from, to); false when no query sees one of them.
  bool take(std::int64_t from, std::int64_t to);
  /// What heads see of the step, in seen_ if anything is excluded.
  bool exclude(std::int64_t from, std::int64_t to);
  void exclude_for_head(int head, const TileVerdict& verdict, std::int64_t from, std::int64_t to);
  void add_relative_keys(std::int64_t from);
  void shape(std::int64_t from);
  const float* dense_bias(std::int64_t h, std::int64_t i, std::int64_t from, int keys);

  const FewCall& call_;
  FewCall::Place place_{};
  PanelExclusion exclusion_;
  kernels::DecodeStep step_;
  float *queries_, *scores_, *seen_, *select_, *bias_, *by_offset_, *factor_, *scratch_, *row_;
};

}  // namespace volvelle
