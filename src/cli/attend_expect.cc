#include "cli/attend_expect.h"

#include <algorithm>

#include "cli/array_roles.h"
#include "cli/view_axes.h"
#include "volvelle/io/arrays.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

constexpr std::size_t kPartsShown = 12;
constexpr std::size_t kRowsShown = 4;

// Whole numbers typed as text are still results.
Tensor floating(const Tensor& array) {
  return is_integer(array.dtype()) ? converted(array.view(), DType::float64) : array;
}

std::string place(const std::vector<std::int64_t>& index) {
  Axes axes;
  for (const std::int64_t one : index) axes.push_back(one);
  return to_string(axes);
}

std::string differences(const char* name, const Comparison& c, int digits) {
  std::string text = wrapped(std::string(name) + ": " + grouped(c.failing) + " of " +
                             grouped(c.elements) + " elements differ beyond tolerance, in " +
                             grouped(c.failing_rows) + " of " + grouped(c.rows) + " rows");
  if (!c.at.empty()) {
    text += wrapped("largest difference " + rounded(c.max_abs, digits) + " at " + place(c.at) +
                        ": ours " + rounded(c.ours_at, std::max(digits, 8)) + ", theirs " +
                        rounded(c.theirs_at, std::max(digits, 8)),
                    {.indent = 4});
  }
  if (!c.at_rel.empty()) {
    text += wrapped(
        "largest relative difference " + rounded(c.max_rel, digits) + " at " + place(c.at_rel),
        {.indent = 4});
  }
  return text + wrapped("tolerance " + rounded(c.tolerance.atol, digits) + " + " +
                            rounded(c.tolerance.rtol, digits) + " x size",
                        {.indent = 4});
}

std::string parts(const char* what, const std::vector<PartDifference>& all, int digits) {
  if (all.size() < 2 && (all.empty() || all[0].index == 0)) return "";
  Table table{.titles = {what, "elements", "rows", "largest"}, .rows = {}};
  for (std::size_t i = 0; i < std::min(all.size(), kPartsShown); ++i) {
    table.rows.push_back({std::to_string(all[i].index), grouped(all[i].failing),
                          grouped(all[i].failing_rows), rounded(all[i].max_abs, digits)});
  }
  std::string text = '\n' + render(table);
  if (all.size() > kPartsShown)
    text += "  ... " + grouped(static_cast<std::int64_t>(all.size() - kPartsShown)) + " more\n";
  return text;
}

std::string worst_rows(const Comparison& c, int digits) {
  if (c.worst_rows.empty()) return "";
  Table table{.titles = {"worst row", "head", "batch row", "elements", "largest"}, .rows = {}};
  for (const RowDifference& row : c.worst_rows) {
    if (table.rows.size() == kRowsShown) break;
    table.rows.push_back({std::to_string(row.row), std::to_string(row.head),
                          std::to_string(row.batch), grouped(row.failing),
                          rounded(row.max_abs, digits)});
  }
  return '\n' + render(table);
}

}  // namespace

ExpectReport compare_with_file(const AttendInputs& inputs, const AttendRun& run,
                               const AttendOptions& options) {
  const std::string& path = *options.expect;
  const ReadOptions reading{.number_dtype = DType::float64};
  Tensor output;
  Tensor lse;
  if (holds_named_arrays(path)) {
    const NamedArrays arrays = read_arrays(path, reading);
    const Tensor* const found = find_array(arrays, "output");
    if (found == nullptr) {
      throw UsageError(path + " holds no array 'output' to compare with");
    }
    output = floating(*found);
    if (const Tensor* const sums = find_array(arrays, "lse")) lse = floating(*sums);
  } else {
    output = floating(read_array(path, reading));
  }
  Expected expected{
      .output = output.view(), .lse = lse.view(), .atol = options.atol, .rtol = options.rtol};
  AttentionResult ours = run.result;
  const bool swap = inputs.layout == Layout::bthd && output.rank() >= 3 &&
                    output.rank() == run.result.output.rank();
  if (swap) {
    const int rank = output.rank();
    expected.output = swapped(expected.output, rank - 3, rank - 2);
    ours.output = copy_of(swapped(run.result.output.view(), rank - 3, rank - 2));
  }
  ExpectReport report = check_expected(inputs.problem, ours, expected);
  for (Diagnosis& one : report.diagnosis) {
    if (swap && one.sentence.find("(B,T,H,E)") != std::string::npos) {  // it saw swapped axes
      one.sentence =
          "your result equals attention with the output in (B,H,T,E) order, not the "
          "(B,T,H,E) that --layout asks for";
    }
  }
  return report;
}

std::string expect_text(const ExpectReport& report, const std::string& file, int digits) {
  std::string text;
  if (report.matches) {
    text = "Equals " + file + " within tolerance: largest difference " +
           rounded(report.output.max_abs, digits);
    if (report.lse) text += " (log-sum-exp " + rounded(report.lse->max_abs, digits) + ")";
    return wrapped(text, {.indent = 0});
  }
  const bool lse_matches = !report.lse || report.lse->matches;
  if (report.output.failing == 0 && lse_matches) {
    text = "Differs from " + file + " in the order of its axes only\n";
  } else {
    text = "Differs from " + file + '\n' + differences("output", report.output, digits);
  }
  if (!lse_matches) text += differences("log-sum-exp", *report.lse, digits);
  text += parts("head", report.output.heads, digits);
  text += parts("batch row", report.output.batches, digits);
  text += worst_rows(report.output, digits);
  text += "\nDiagnosis\n";
  for (const Diagnosis& one : report.diagnosis) text += wrapped(one.sentence, {}, 2);
  if (report.diagnosis.empty()) {
    text += wrapped("none of the known mistakes reproduces this result");
  }
  for (const std::string& reason : report.not_tried) text += wrapped("not tried: " + reason, {}, 2);
  return text;
}

}  // namespace volvelle::cli
