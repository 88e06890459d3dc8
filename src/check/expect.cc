#include "volvelle/check/expect.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "attention/resolved.h"
#include "check/output_layout.h"
#include "check/row_reader.h"
#include "check/shape_fit.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

View on_all_axes(const View& view) {
  const FourAxes four(view);
  return View(view.data(), view.dtype(),
              {four.shape[0], four.shape[1], four.shape[2], four.shape[3]},
              {four.stride[0], four.stride[1], four.stride[2], four.stride[3]});
}

Shape without_ones(const Shape& shape) {
  Shape kept;
  for (const std::int64_t size : shape) {
    if (size != 1) kept.push_back(size);
  }
  return kept;
}

// Compares on all four axes and gives the places on the axes the user knows.
Comparison compare_output(const View& ours, const View& theirs, const CompareOptions& options) {
  Comparison result = compare(on_all_axes(ours), theirs, options);
  for (auto* at : {&result.at, &result.at_rel}) {
    if (!at->empty()) at->erase(at->begin(), at->begin() + (4 - ours.rank()));
  }
  return result;
}

// A log-sum-exp that is wrong beside an output that is right.
void diagnose_lse(const ResolvedAttention& problem, const View& ours, const View& theirs,
                  const CompareOptions& options, std::vector<Diagnosis>& found) {
  const auto try_it = [&](const char* fault, const char* what, auto&& change) {
    Tensor changed = converted(ours, DType::float64);
    double* values = changed.data<double>();
    for (std::int64_t i = 0; i < changed.size(); ++i) values[i] = change(values[i], i);
    const Comparison compared = compare_rows(changed.view(), theirs, options);
    if (!compared.matches) return;
    found.push_back({fault, std::string("your log-sum-exp equals ours ") + what, compared.max_abs});
  };
  try_it("lse_base_two", "in base 2: multiply it by ln 2",
         [](double lse, std::int64_t) { return lse / std::numbers::ln2; });
  if (!problem.sinks.present) return;
  try_it("lse_without_sink", "without the sink", [&](double lse, std::int64_t i) {
    const double sink = problem.sinks.value(i / problem.queries % problem.heads, 0);
    return lse + std::log1p(-std::exp(sink - lse));
  });
}

}  // namespace

ExpectReport check_expected(const AttentionProblem& problem, const AttentionResult& ours,
                            const Expected& theirs) {
  if (!theirs.output) throw InvalidArgument("[expect] the file has no array `output`");
  if (!is_floating(theirs.output.dtype())) {
    throw InvalidArgument("[expect] output is " + std::string(name_of(theirs.output.dtype())) +
                          ", not a floating type");
  }
  if (theirs.lse && !ours.lse) {
    throw InvalidArgument("[expect] the file has an lse and none was computed: ask for it");
  }
  const ResolvedAttention resolved = resolve(problem);
  CompareOptions options;
  options.atol = theirs.atol;
  options.rtol = theirs.rtol;
  options.width = resolved.width;
  options.keys = resolved.keys;
  options.computed_in = resolved.dtype;

  ExpectReport report;
  const View our_output = ours.output.view();
  const View all_axes = on_all_axes(our_output);
  View their_output = theirs.output;
  if (without_ones(our_output.shape()) != without_ones(their_output.shape())) {
    const std::int64_t shape[4] = {resolved.batch, resolved.heads, resolved.queries,
                                   resolved.value_width};
    const std::vector<OutputReading> readings = other_readings(their_output, shape);
    if (readings.empty()) {
      throw InvalidArgument("[expect] output is " + to_string(their_output.shape()) +
                            " in the file and " + to_string(our_output.shape()) +
                            " here; no order of axes makes them one");
    }
    const OutputReading* best = nullptr;
    for (const OutputReading& reading : readings) {
      Comparison compared = compare_output(our_output, reading.view, options);
      if (best != nullptr && compared.failing >= report.output.failing) continue;
      best = &reading;
      report.output = std::move(compared);
    }
    their_output = best->view;
    report.matches = false;
    report.diagnosis.push_back(
        {"layout",
         "your result equals attention with the output in " + best->axes + " order, not (B,H,T,E)",
         report.output.max_abs});
    if (!report.output.matches) {
      report.diagnosis.back().sentence = "your result has its axes in " + best->axes +
                                         " order, not (B,H,T,E), and differs in that order too";
    }
  } else {
    report.output = compare_output(our_output, their_output, options);
    their_output = View();
  }

  if (!report.output.matches) {
    report.matches = false;
    // A shape that fits is brought to four axes through the comparison's own rule.
    const View four = their_output ? their_output : on_axes_of(all_axes, theirs.output);
    DiagnoseReport diagnosed =
        diagnose(problem, all_axes, four, {.tolerance = report.output.tolerance});
    for (Diagnosis& one : diagnosed.found) report.diagnosis.push_back(std::move(one));
    report.not_tried = std::move(diagnosed.not_tried);
  }
  if (theirs.lse) {
    report.lse = compare_rows(ours.lse.view(), theirs.lse, options);
    if (!report.lse->matches) {
      report.matches = false;
      if (report.output.matches) {
        diagnose_lse(resolved, ours.lse.view(), theirs.lse, options, report.diagnosis);
      }
    }
  }
  return report;
}

}  // namespace volvelle
