#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"
#include "volvelle/check/compare.h"

namespace volvelle {

/// A fault that reproduces a foreign result.
struct Diagnosis {
  std::string fault;     ///< a name for programs: "window_one_more"
  std::string sentence;  ///< for people: "your result equals attention with window 257"
  double max_abs = 0;    ///< how far from the file on the rows tried
};

struct DiagnoseOptions {
  Tolerance tolerance = {};
  std::int64_t first_rows = 24;     ///< rows on which a fault must agree to be looked at further
  std::int64_t confirm_rows = 192;  ///< further rows that confirm it
  double column_operations = 4e9;   ///< most multiply-adds spent on whole columns of scores
};

struct DiagnoseReport {
  std::vector<Diagnosis> found;        ///< closest first
  std::vector<std::string> not_tried;  ///< faults that would have taken too long, and why
};

/// Runs the oracle with one known fault at a time and returns those that give `theirs` within the
/// tolerance: the scale absent or from another number, softmax over columns, masks shifted,
/// inverted, dropped or applied late, key heads tiled, the cap, a bias or a sink dropped, axes
/// swapped, ... Only faults that the problem can have are tried. Work is bounded: a fault is tried
/// on the rows where `ours` and `theirs` differ most, then on rows spread over all heads (all rows
/// of a small problem). When `theirs` equals the fault-free oracle, "none" is found.
/// Shapes:  ours, theirs (B,H,T,E) with every axis.
/// Throws:  what `attend` throws for the problem; InvalidArgument when the shapes do not fit it.
VOLVELLE_API DiagnoseReport diagnose(const AttentionProblem& problem, const View& ours,
                                     const View& theirs, const DiagnoseOptions& options);

/// The names of all faults that `diagnose` knows, with what each means.
struct KnownFault {
  const char* name;
  const char* meaning;
};
VOLVELLE_API const std::vector<KnownFault>& known_faults();

}  // namespace volvelle
