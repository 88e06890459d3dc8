#include "volvelle/ops/linear_backward.h"

#include <string>

#include "base/thread_pool.h"
#include "ops/checks.h"
#include "ops/column_sums.h"
#include "ops/leading_axes.h"
#include "ops/product.h"
#include "ops/weight_storage.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kInput("linear_backward_input");
constexpr OperatorChecks kWeights("linear_backward_weights");
constexpr OperatorChecks kBias("linear_backward_bias");

// `view` (..., last) with the leading axes of `like`.
void check_rows(const OperatorChecks& checks, const char* name, const View& view, const View& like,
                std::int64_t last, const char* axes) {
  Shape wanted = like.shape();
  wanted[like.rank() - 1] = last;
  checks.shape(name, view, wanted, axes);
}

std::int64_t last_axis(const View& view) { return view.shape()[view.rank() - 1]; }

void input_gradient(const View& grad_y, const PanelSource& panels, const MutableView& grad_x,
                    const MatmulOptions& options) {
  const int threads = resolve_threads(options.threads);
  Product product;
  product.columns = last_axis(grad_x);
  product.depth = last_axis(grad_y);
  product.right = &panels;
  for (int axis = 0; axis + 1 < grad_y.rank(); ++axis) {
    const std::int64_t out = stride_of(grad_x, axis);
    product.batch.add(grad_y.shape()[axis], {stride_of(grad_y, axis), 0, out, out});
  }
  const ProductAxes::Axis rows = product.batch.take_innermost();
  product.rows = rows.length;
  product.left = {grad_y.data(), grad_y.dtype(), rows.strides[kLeft], stride_from_end(grad_y, -1)};
  product.out = {grad_x.data(), grad_x.dtype(), rows.strides[kOut], stride_from_end(grad_x, -1)};
  if (options.store == Store::accumulate) {
    product.residual = {grad_x.data(), grad_x.dtype(), product.out.row, product.out.column};
  }
  compute(product, threads);
}

void check_input(const View& grad_y, const MutableView& grad_x, std::int64_t outputs,
                 std::int64_t inputs) {
  kInput.floats("grad_y", grad_y);
  kInput.written("grad_x", grad_x);
  kInput.same_width("grad_x", grad_x, "grad_y", grad_y);
  kInput.rank("grad_y", grad_y, 1, "(..., N)");
  check_rows(kInput, "grad_y", grad_y, grad_y, outputs, "(..., N)");
  check_rows(kInput, "grad_x", grad_x, grad_y, inputs, "(..., K)");
  kInput.apart("grad_x", grad_x, "grad_y", grad_y);
}

// grad (+)= sum over rows of left^T right: what is summed over is the innermost of the axes that
// the arrays walk as one; further ones, if any, are added in order.
void sum_over_rows(const View& left, const View& right, const MutableMatrix& out,
                   std::int64_t out_rows, const MatmulOptions& options) {
  const int threads = resolve_threads(options.threads);
  JointAxes<2> leading;
  for (int axis = 0; axis + 1 < right.rank(); ++axis) {
    leading.add(right.shape()[axis],
                {broadcast_stride(left, axis, right.rank()), stride_of(right, axis)});
  }
  const JointAxes<2>::Axis summed = leading.take_innermost();
  Product product;
  product.rows = out_rows;
  product.columns = last_axis(right);
  product.depth = summed.length;
  product.out = out;
  const auto add = [&](const JointAxes<2>::Offsets& at, bool accumulate) {
    const ViewPanels panels(
        Matrix{right.data(), right.dtype(), summed.strides[1], stride_from_end(right, -1)}.at(
            0, 0, at[1]),
        product.columns);
    product.right = &panels;
    product.left =
        Matrix{left.data(), left.dtype(), stride_from_end(left, -1), summed.strides[0]}.at(0, 0,
                                                                                           at[0]);
    if (accumulate) product.residual = {out.data, out.dtype, out.row, out.column};
    compute(product, threads);
  };
  const bool accumulate = options.store == Store::accumulate;
  for (std::int64_t i = 0; i < leading.count(); ++i) add(leading.offsets(i), accumulate || i > 0);
  if (leading.count() == 0) {  // no rows at all: the sum is 0
    product.depth = 0;
    add({}, accumulate);
  }
}

}  // namespace

void linear_backward_input(const View& grad_y, const PackedWeights& weights,
                           const MutableView& grad_x, const MatmulOptions& options) {
  if (!weights) kInput.refuse("weights are missing: pack them first (PackedWeights)");
  if (weights.is_gated()) {
    kInput.refuse(
        "weights are gated: ask for the gradient of each factor, with weights of its own");
  }
  check_input(grad_y, grad_x, weights.outputs(), weights.inputs());
  if ((weights.format() == WeightFormat::float64) != (grad_y.dtype() == DType::float64)) {
    kInput.refuse("weights are " + std::string(name_of(weights.format())) + " and grad_y is " +
                  std::string(name_of(grad_y.dtype())) +
                  "; float64 meets only float64: convert one of them");
  }
  input_gradient(grad_y, TransposedPanels(*weights.storage()), grad_x, options);
}

void linear_backward_input(const View& grad_y, const View& weights, const MutableView& grad_x,
                           const MatmulOptions& options) {
  kInput.floats("weights", weights);
  if (weights.rank() != 2) {
    kInput.refuse(named_shape("weights", weights) + " must have shape (N,K)");
  }
  check_input(grad_y, grad_x, weights.shape()[0], weights.shape()[1]);
  kInput.same_width("weights", weights, "grad_y", grad_y);
  kInput.apart("grad_x", grad_x, "weights", weights);
  const Matrix matrix{weights.data(), weights.dtype(), stride_from_end(weights, -2),
                      stride_from_end(weights, -1)};
  input_gradient(grad_y, ViewPanels(matrix, weights.shape()[1]), grad_x, options);
}

void linear_backward_weights(const View& grad_y, const View& x, const MutableView& grad_weights,
                             const MatmulOptions& options) {
  kWeights.floats("grad_y", grad_y);
  kWeights.floats("x", x);
  kWeights.written("grad_weights", grad_weights);
  kWeights.same_width("x", x, "grad_y", grad_y);
  kWeights.same_width("grad_weights", grad_weights, "grad_y", grad_y);
  kWeights.rank("grad_y", grad_y, 1, "(..., N)");
  kWeights.rank("x", x, 1, "(..., K)");
  check_rows(kWeights, "grad_y", grad_y, x, last_axis(grad_y), "(..., N)");
  kWeights.shape("grad_weights", grad_weights, {last_axis(grad_y), last_axis(x)}, "(N,K)");
  kWeights.apart("grad_weights", grad_weights, "grad_y", grad_y);
  kWeights.apart("grad_weights", grad_weights, "x", x);
  sum_over_rows(grad_y, x,
                {grad_weights.data(), grad_weights.dtype(), stride_from_end(grad_weights, -2),
                 stride_from_end(grad_weights, -1)},
                last_axis(grad_y), options);
}

void linear_backward_bias(const View& grad_y, const MutableView& grad_bias,
                          const MatmulOptions& options) {
  kBias.floats("grad_y", grad_y);
  kBias.written("grad_bias", grad_bias);
  kBias.same_width("grad_bias", grad_bias, "grad_y", grad_y);
  kBias.rank("grad_y", grad_y, 1, "(..., N)");
  kBias.shape("grad_bias", grad_bias, {last_axis(grad_y)}, "(N)");
  kBias.apart("grad_bias", grad_bias, "grad_y", grad_y);
  SummedRows summed;
  for (int axis = 0; axis + 1 < grad_y.rank(); ++axis) {
    summed.places.add(grad_y.shape()[axis], {stride_of(grad_y, axis)});
  }
  const JointAxes<1>::Axis rows = summed.places.take_innermost();
  summed.rows = rows.length;
  summed.columns = last_axis(grad_y);
  summed.matrix = {grad_y.data(), grad_y.dtype(), rows.strides[0],
                   summed.columns == 1 ? 1 : stride_from_end(grad_y, -1)};
  sum_columns(summed, {grad_bias.data(), grad_bias.dtype(), 0, stride_from_end(grad_bias, -1)},
              options.store, resolve_threads(options.threads));
}

}  // namespace volvelle
