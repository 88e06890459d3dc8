#include "volvelle/ops/cross_entropy.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "autograd/node.h"
#include "kernels/cross_entropy.h"
#include "ops/class_labels.h"
#include "ops/row_tasks.h"
#include "ops/variable_checks.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

constexpr const char* kName = "cross_entropy";
constexpr OperatorChecks kChecks(kName);

void check(const Variable& logits, const View& labels, const CrossEntropyOptions& options) {
  check_trainable(kChecks, "logits", logits);
  kChecks.rank("logits", logits.view(), 1, "(..., V)");
  Shape wanted;
  for (int axis = 0; axis + 1 < logits.rank(); ++axis) wanted.push_back(logits.shape()[axis]);
  if (!labels) kChecks.refuse("labels are missing");
  kChecks.shape("labels", labels, wanted, "(...), that of logits without its last axis,");
  if (logits.shape()[logits.rank() - 1] == 0) {
    kChecks.refuse(named_shape("logits", logits.view()) + " has no classes; V must be at least 1");
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1)) {
    kChecks.refuse("label_smoothing=" + std::to_string(options.label_smoothing) +
                   " must be in [0, 1)");
  }
  if (options.count < 0) {
    kChecks.refuse("count=" + std::to_string(options.count) +
                   " must be positive, or 0 for the number of counted labels");
  }
}

DType arithmetic_of(DType dtype) {
  return dtype == DType::float64 ? DType::float64 : DType::float32;
}

Tensor scalar(DType dtype, double value) { return converted(View(&value, {}), dtype); }

/// Gives back the gradient of the logits.
struct CrossEntropyBackward {
  Saved logits;
  std::vector<std::int64_t> labels;
  Tensor statistics;
  double smoothing;
  double count;
  int threads;  ///< as asked for

  void operator()(GradientPass& pass) const {
    if (!pass.wants(0)) return;
    const Variable& from = logits.variable(kName);
    const double scale = element_as_double(pass.grad_output(), 0) / count;
    if (pass.is_vacant(0) && nobody_else_holds(from)) {
      Tensor grad = from.value();
      run(from, {grad.mutable_view(), Store::overwrite}, scale);
      pass.give(0, std::move(grad));
      return;
    }
    run(from, pass.slot(0), scale);
  }

 private:
  // This alone holds the variable, and the variable alone its bytes. A leaf's may belong to whoever
  // made it.
  static bool nobody_else_holds(const Variable& variable) {
    return !variable.is_leaf() && !variable.is_read_only() && variable.state().use_count() == 1 &&
           !variable.state()->is_part && !variable.value().is_shared();
  }

  void run(const Variable& from, const GradientSlot& slot, double scale) const {
    const DType dtype = from.dtype();
    const std::int64_t width = from.shape()[from.rank() - 1];
    const std::size_t row = static_cast<std::size_t>(width) * size_of(dtype);
    RowTasks(from.size() / width, width, threads)
        .run([&](std::int64_t first, std::int64_t count_of_rows) {
          const auto at = static_cast<std::size_t>(first);
          kernels::CrossEntropyBackwardRows rows;
          rows.type = row_type_of(dtype);
          rows.logits = static_cast<const std::byte*>(from.value().raw()) + at * row;
          rows.labels = labels.data() + first;
          rows.statistics = static_cast<const std::byte*>(statistics.raw()) +
                            at * kernels::kCrossEntropyStatistics * size_of(arithmetic_of(dtype));
          rows.rows = count_of_rows;
          rows.width = width;
          rows.smoothing = smoothing;
          rows.scale = scale;
          rows.grad = static_cast<std::byte*>(slot.to.data()) + at * row;
          rows.accumulate = slot.store == Store::accumulate;
          kernels::cross_entropy_backward(rows);
        });
  }
};

}  // namespace

Variable cross_entropy(const Variable& logits, const View& labels,
                       const CrossEntropyOptions& options) {
  check(logits, labels, options);
  const std::int64_t width = logits.shape()[logits.rank() - 1];
  const std::int64_t rows = logits.size() / width;
  std::vector<std::int64_t> classes = class_labels(kChecks, labels, width, options.ignore_index);
  const DType arithmetic = arithmetic_of(logits.dtype());
  const bool keeps = is_recording({&logits});
  Tensor statistics;
  if (keeps) statistics = Tensor(arithmetic, {rows, kernels::kCrossEntropyStatistics});
  std::vector<double> losses(static_cast<std::size_t>(rows));
  const std::size_t row = static_cast<std::size_t>(width) * size_of(logits.dtype());
  RowTasks(rows, width, options.threads).run([&](std::int64_t first, std::int64_t count) {
    const auto at = static_cast<std::size_t>(first);
    kernels::CrossEntropyRows step;
    step.type = row_type_of(logits.dtype());
    step.logits = static_cast<const std::byte*>(logits.value().raw()) + at * row;
    step.labels = classes.data() + first;
    step.rows = count;
    step.width = width;
    step.smoothing = options.label_smoothing;
    step.losses = losses.data() + first;
    if (keeps) {
      step.statistics = static_cast<std::byte*>(statistics.raw()) +
                        at * kernels::kCrossEntropyStatistics * size_of(arithmetic);
    }
    kernels::cross_entropy_forward(step);
  });

  double sum = 0;
  for (const double loss : losses) sum += loss;
  const auto ignored = std::count(classes.begin(), classes.end(), std::int64_t{-1});
  const std::int64_t count = options.count > 0 ? options.count : rows - ignored;
  // Without a counted label sum and gradients are 0 already.
  const double divisor = count == 0 ? 1 : static_cast<double>(count);
  Tensor loss = scalar(arithmetic, sum / divisor);
  if (!keeps) return Variable(std::move(loss));
  return record(kName, std::move(loss), {logits},
                CrossEntropyBackward{Saved(logits), std::move(classes), std::move(statistics),
                                     options.label_smoothing, divisor, options.threads});
}

std::int64_t counted_labels(const View& labels, std::int64_t ignore_index) {
  const std::vector<std::int64_t> numbers = label_numbers(OperatorChecks("counted_labels"), labels);
  return static_cast<std::int64_t>(numbers.size()) -
         std::count(numbers.begin(), numbers.end(), ignore_index);
}

}  // namespace volvelle
