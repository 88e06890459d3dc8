#include "cli/gradient_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "cli/attend_backward.h"
#include "cli/attend_json.h"
#include "cli/score_table.h"
#include "cli/seen_pairs.h"
#include "cli/view_axes.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kMatricesShown = 8;  // of one array

struct Size {
  double norm = 0;
  double largest = 0;
  std::int64_t at = 0;
  std::int64_t nonfinite = 0;
};

Size size_of_entries(const Tensor& array) {
  Size size;
  double sum = 0;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double value = element_as_double(array.view(), i);
    if (!std::isfinite(value)) {
      ++size.nonfinite;
      continue;
    }
    sum += value * value;
    if (std::fabs(value) <= std::fabs(size.largest)) continue;
    size.largest = value;
    size.at = i;
  }
  size.norm = std::sqrt(sum);
  return size;
}

std::string index_text(const Shape& shape, std::int64_t at) {
  Axes index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return to_string(index);
}

std::string time_text(const AttendInputs& inputs, const AttendRun& run) {
  const BackwardRun& backward = *run.backward;
  std::string text = "By the " + std::string(name_of_path(backward.plan.path)) + " path (" +
                     backward.plan.reason + ") on " + backward.plan.simd + " in " +
                     duration(backward.milliseconds * 1e-3);
  if (backward.calls > 1) text += " (median of " + std::to_string(backward.calls) + ")";
  const std::optional<double> seen = seen_pairs(inputs.problem, run.plan);
  if (!seen || backward.milliseconds <= 0) return text + '.';
  // Scores again, dQ and dK along D; grad_output . v and dV along E.
  const double width =
      3 * static_cast<double>(run.plan.head_width) + 2 * static_cast<double>(run.plan.value_width);
  const double gflops = 2 * *seen * width / (backward.milliseconds * 1e6);
  return text + ", " + rounded(gflops, gflops < 10 ? 2 : 0) +
         " GFLOP/s on the pairs that are seen.";
}

using Label = std::function<std::string(std::int64_t)>;

std::string titled(const std::string& title, const View& matrix, const Label& row,
                   const Label& column, int digits) {
  return "\n  " + title + '\n' +
         render(LabelledMatrix{
             .rows = matrix.shape()[0],
             .columns = matrix.shape()[1],
             .row_label = row,
             .column_label = column,
             .cell = [&](std::int64_t i,
                         std::int64_t j) { return rounded(element(matrix, i, j), digits); },
         });
}

Label numbered(const char* what) {
  return [what](std::int64_t i) { return std::string(what) + ' ' + std::to_string(i); };
}

// One matrix for each place of the two leading axes; an axis of length 1 is not spoken of.
std::string matrices(const char* name, const View& array, const char* part, const Label& row,
                     const Label& column, int digits) {
  const View four = with_rank(array, 4);
  const std::int64_t batches = four.shape()[0], parts = four.shape()[1];
  std::string text;
  for (std::int64_t n = 0; n < std::min(batches * parts, kMatricesShown); ++n) {
    std::string title = name;
    if (parts > 1) title += std::string(" of ") + part + ' ' + std::to_string(n % parts);
    if (batches > 1) title += " of batch row " + std::to_string(n / parts);
    text += titled(title, head_of(four, n / parts, n % parts), row, column, digits);
  }
  if (batches * parts > kMatricesShown) {
    text += "  ... " + grouped(batches * parts - kMatricesShown) +
            " more; --json and --out have them all\n";
  }
  return text;
}

// "query 0", or what a broadcast axis was summed over.
Label or_all(std::int64_t length, std::int64_t full, const char* one, const char* all) {
  if (length == 1 && full != 1) return [all](std::int64_t) { return std::string(all); };
  return numbered(one);
}

std::string bias_text(const AttendRun& run, int digits) {
  const View bias = with_rank(run.backward->gradients.bias.view(), 4);
  return matrices("grad_bias", bias, "head",
                  or_all(bias.shape()[2], run.plan.queries, "query", "all queries"),
                  or_all(bias.shape()[3], run.plan.keys, "key", "all keys"), digits);
}

View as_column(const Tensor& list) { return View(list.raw(), list.dtype(), Shape{list.size(), 1}); }

}  // namespace

std::string gradient_summary(const AttendInputs& inputs, const AttendRun& run, int digits) {
  Table table{.titles = {"gradient", "shape", "norm", "largest", "at"}, .rows = {}};
  std::string remarks;
  for (const auto& [name, array] : named(run.backward->gradients)) {
    const Size size = size_of_entries(array);
    const bool zero = size.largest == 0;
    table.rows.push_back({name, to_string(array.shape()), rounded(size.norm, digits),
                          rounded(size.largest, digits),
                          zero ? "" : index_text(array.shape(), size.at)});
    if (size.nonfinite > 0) {
      remarks += wrapped(grouped(size.nonfinite) + " entries of " + name + " are not finite.");
    }
  }
  return "Gradients of sum(grad_output * output)\n" + render(table) + remarks +
         wrapped(time_text(inputs, run));
}

std::string shared_gradients(const AttendRun& run, int digits) {
  const AttentionGradientResult& gradients = run.backward->gradients;
  const auto nothing = [](std::int64_t) { return std::string(); };
  std::string text;
  if (run.plan.heads != run.plan.key_heads) {
    text += matrices("grad_k", run.backward->k_bgsd, "key head", numbered("key"), nothing, digits);
    text +=
        matrices("grad_v", run.backward->v_bgse, "key head", numbered("value"), nothing, digits);
  }
  if (gradients.bias) text += bias_text(run, digits);
  if (gradients.slopes) {
    text += titled("grad_slopes", as_column(gradients.slopes), numbered("head"), nothing, digits);
  }
  if (gradients.sinks) {
    text += titled("grad_sinks", as_column(gradients.sinks), numbered("head"), nothing, digits);
  }
  if (gradients.bias_table) {
    const std::int64_t reach = gradients.bias_table.shape()[1] / 2;
    const auto offset = [reach](std::int64_t entry) {
      return (entry > reach ? "+" : "") + std::to_string(entry - reach);
    };
    text += titled("grad_bias_table, by key position - query position", gradients.bias_table.view(),
                   numbered("head"), offset, digits);
  }
  const auto by_offset = [&](const char* name, const Tensor& array) {
    if (!array) return;
    const std::int64_t reach = array.shape()[array.rank() - 2] / 2;
    const auto offset = [reach](std::int64_t entry) {
      return "offset " + std::string(entry > reach ? "+" : "") + std::to_string(entry - reach);
    };
    text += matrices(name, array.view(), "head", offset, nothing, digits);
  };
  by_offset("grad_relative_keys", gradients.relative_keys);
  by_offset("grad_relative_queries", gradients.relative_queries);
  by_offset("grad_relative_values", gradients.relative_values);
  if (gradients.bucket_table) {
    text += titled("grad_bucket_table", gradients.bucket_table.view(), numbered("head"),
                   numbered("bucket"), digits);
  }
  return text;
}

}  // namespace volvelle::cli
