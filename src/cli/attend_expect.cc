#include "cli/attend_expect.h"

#include <algorithm>

#include "cli/array_roles.h"
#include "cli/relative_gradients.h"
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

Tensor array_of(const NamedArrays& arrays, const char* name) {
  const Tensor* const found = find_array(arrays, name);
  return found != nullptr ? floating(*found) : Tensor();
}

/// The file's arrays, none of them whole numbers.
struct ExpectedArrays {
  Tensor output, lse;
  Tensor q, k, v, bias, slopes, bias_table, bucket_table, sinks;
  RelativeGradients relative;

  bool gradients() const {
    return q || k || v || bias || slopes || bias_table || bucket_table || sinks || relative.any();
  }
};

ExpectedArrays read_expected(const std::string& path) {
  const ReadOptions reading{.number_dtype = DType::float64};
  ExpectedArrays read;
  if (!holds_named_arrays(path)) {
    read.output = floating(read_array(path, reading));
    return read;
  }
  const NamedArrays arrays = read_arrays(path, reading);
  read.output = array_of(arrays, "output");
  read.lse = array_of(arrays, "lse");
  read.q = array_of(arrays, "grad_q");
  read.k = array_of(arrays, "grad_k");
  read.v = array_of(arrays, "grad_v");
  read.bias = array_of(arrays, "grad_bias");
  read.slopes = array_of(arrays, "grad_slopes");
  read.bias_table = array_of(arrays, "grad_bias_table");
  read.bucket_table = array_of(arrays, "grad_bucket_table");
  read.sinks = array_of(arrays, "grad_sinks");
  read.relative.keys = array_of(arrays, "grad_relative_keys");
  read.relative.queries = array_of(arrays, "grad_relative_queries");
  read.relative.values = array_of(arrays, "grad_relative_values");
  return read;
}

bool comes_swapped(const AttendInputs& inputs, const View& theirs, int rank) {
  return inputs.layout == Layout::bthd && theirs.rank() >= 3 && theirs.rank() == rank;
}

// A reading of axes that were swapped before names them as they are in the file.
void name_swapped_axes(Diagnosis& one) {
  static constexpr const char* kOrders[][2] = {{"(B,T,H,", "(B,H,T,"}, {"(B,S,G,", "(B,G,S,"}};
  for (const auto& [seen, own] : kOrders) {
    const std::size_t at = one.sentence.find(seen);
    if (at != std::string::npos) one.sentence.replace(at, std::string(seen).size(), own);
  }
}

ExpectReport compare_output(const AttendInputs& inputs, const AttendRun& run,
                            const AttendOptions& options, const ExpectedArrays& arrays) {
  const Tensor& output = arrays.output;
  Expected expected{.output = output.view(),
                    .lse = arrays.lse.view(),
                    .atol = options.atol,
                    .rtol = options.rtol};
  AttentionResult ours = run.result;
  const bool swap = comes_swapped(inputs, output.view(), run.result.output.rank());
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

GradientReport compare_gradients(const AttendInputs& inputs, const AttendRun& run,
                                 const AttendOptions& options, const ExpectedArrays& arrays) {
  AttentionGradientResult ours = run.backward->gradients;
  bool any_swapped = false;
  const auto expected = [&](const Tensor& theirs, Tensor& own) {
    View view = theirs.view();
    const int rank = own.rank();
    if (inputs.layout != Layout::bthd || rank < 3) return view;
    const bool swap = comes_swapped(inputs, view, rank);
    own = copy_of(swapped(own.view(), rank - 3, rank - 2));
    any_swapped = any_swapped || swap;
    return swap ? swapped(view, rank - 3, rank - 2) : view;
  };
  const ExpectedGradients theirs{.q = expected(arrays.q, ours.q),
                                 .k = expected(arrays.k, ours.k),
                                 .v = expected(arrays.v, ours.v),
                                 .bias = arrays.bias.view(),
                                 .slopes = arrays.slopes.view(),
                                 .bias_table = arrays.bias_table.view(),
                                 .bucket_table = arrays.bucket_table.view(),
                                 .sinks = arrays.sinks.view(),
                                 .atol = options.atol,
                                 .rtol = options.rtol};
  GradientReport report =
      check_expected_gradients(inputs.problem, {inputs.grad_output, ours}, theirs);
  for (Diagnosis& one : report.diagnosis) {
    if (any_swapped && one.fault == "layout") name_swapped_axes(one);
  }
  RelativeGradients relative = arrays.relative;
  relative.atol = options.atol;
  relative.rtol = options.rtol;
  compare_relative(inputs.problem, run.backward->gradients, relative, report);
  return report;
}

std::string diagnosis_text(const std::vector<Diagnosis>& diagnosis,
                           const std::vector<std::string>& not_tried, const char* none) {
  std::string text = "\nDiagnosis\n";
  for (const Diagnosis& one : diagnosis) text += wrapped(one.sentence, {}, 2);
  if (diagnosis.empty()) text += wrapped(none);
  for (const std::string& reason : not_tried) text += wrapped("not tried: " + reason, {}, 2);
  return text;
}

std::string output_text(const ExpectReport& report, const std::string& file, int digits) {
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
  return text + diagnosis_text(report.diagnosis, report.not_tried,
                               "none of the known mistakes reproduces this result");
}

std::string gradients_text(const GradientReport& report, const std::string& file, int digits) {
  std::string equal;
  std::string different;
  for (const auto& [name, c] : report.gradients) {
    if (c.matches) {
      equal += (equal.empty() ? "" : ", ") + name + ' ' + rounded(c.max_abs, digits);
      continue;
    }
    different += differences(name.c_str(), c, digits);
    // Which heads differ says something where some do not.
    const bool by_head = (name == "grad_q" || name == "grad_k" || name == "grad_v") &&
                         10 * c.failing_rows < 9 * c.rows;
    const std::string heads =
        by_head ? parts(name == "grad_q" ? "head" : "key head", c.heads, digits) : "";
    if (!heads.empty()) different += heads + '\n';
  }
  if (report.matches) {
    return wrapped("Gradients equal " + file + " within tolerance; largest differences: " + equal,
                   {.indent = 0});
  }
  std::string text =
      wrapped("Gradients differ from " + file + (different.empty() ? " in their shapes only" : ""),
              {.indent = 0});
  text += different;
  if (!equal.empty()) {
    text += wrapped("equal within tolerance; largest differences: " + equal, {}, 2);
  }
  return text + diagnosis_text(report.diagnosis, report.not_tried,
                               "none of the known mistakes reproduces these gradients");
}

}  // namespace

ExpectOutcome compare_with_file(const AttendInputs& inputs, const AttendRun& run,
                                const AttendOptions& options) {
  const std::string& path = *options.expect;
  const ExpectedArrays arrays = read_expected(path);
  ExpectOutcome outcome;
  if (!arrays.output && !(run.backward && arrays.gradients())) {
    throw UsageError(path + " holds no array 'output' to compare with" +
                     (arrays.gradients() ? "; --backward compares its gradients" : ""));
  }
  if (arrays.output) outcome.output = compare_output(inputs, run, options, arrays);
  if (!arrays.output && arrays.lse) {
    outcome.remarks.push_back("'lse' in " + path + " is compared beside 'output', which it lacks");
  }
  if (run.backward && arrays.gradients()) {
    outcome.gradients = compare_gradients(inputs, run, options, arrays);
  } else if (run.backward) {
    outcome.remarks.push_back(path + " holds no gradients (grad_q, ...): its output is compared");
  } else if (arrays.gradients()) {
    outcome.remarks.push_back(path + " holds gradients too; --backward compares them");
  }
  return outcome;
}

std::string expect_text(const ExpectOutcome& outcome, const std::string& file, int digits) {
  std::string text;
  if (outcome.output) text = output_text(*outcome.output, file, digits);
  if (!outcome.gradients) return text;
  if (!text.empty()) text += '\n';
  return text + gradients_text(*outcome.gradients, file, digits);
}

}  // namespace volvelle::cli
