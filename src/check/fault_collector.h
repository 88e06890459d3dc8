#pragma once

#include <string>
#include <utility>
#include <vector>

#include "check/attention_faults.h"
#include "check/fault_text.h"
#include "volvelle/check/diagnose.h"

namespace volvelle {

/// Collects the candidates of one entry of the catalog of faults.
class FaultCollector {
 public:
  FaultCollector(const char* fault, const AttentionProblem& problem, double scale,
                 std::vector<FaultCandidate>& out)
      : fault_(fault), problem_(problem), scale_(scale), out_(out) {}

  FaultCandidate& add(const std::string& what) {
    out_.push_back({fault_, "your result equals attention " + what, problem_});
    return out_.back();
  }
  void with_scale(double scale, const std::string& what) {
    add(what + " (scale " + fault_number(scale) + ", not " + fault_number(scale_) + ")")
        .problem.scale = scale;
  }
  void inside(AttentionFault fault, const std::string& what) { add(what).inside = fault; }

 private:
  const char* fault_;
  const AttentionProblem& problem_;
  double scale_;
  std::vector<FaultCandidate>& out_;
};

/// A line of the catalog. An entry adds nothing when the problem cannot have the fault; what
/// changes nothing (a scale of 1 for D = 1) is harmless, since it cannot reproduce a differing
/// file.
struct FaultEntry {
  KnownFault fault;
  void (*find)(const AttentionProblem&, const ResolvedAttention&, FaultCollector&&);
};

}  // namespace volvelle
