#include "volvelle/ops/linear.h"

#include <string>

#include "base/thread_pool.h"
#include "ops/checks.h"
#include "ops/curve.h"
#include "ops/leading_axes.h"
#include "ops/product.h"
#include "ops/weight_storage.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("linear");

Matrix bias_row(const View& bias) {
  if (!bias) return {};
  return {bias.data(), bias.dtype(), 0, stride_from_end(bias, -1)};
}

void check_bias(const char* name, const View& bias, std::int64_t outputs, const View& y) {
  if (!bias) return;
  kChecks.floats(name, bias);
  kChecks.same_width(name, bias, "y", y);
  kChecks.shape(name, bias, {outputs}, "(N)");
}

void check_residual(const View& residual, const MutableView& y) {
  kChecks.floats("residual", residual);
  kChecks.same_width("residual", residual, "y", y);
  bool fits = residual.rank() <= y.rank();
  for (int axis = 1; fits && axis <= residual.rank(); ++axis) {
    const std::int64_t own = residual.shape()[residual.rank() - axis];
    fits = own == 1 || own == y.shape()[y.rank() - axis];
  }
  if (!fits) {
    kChecks.refuse(named_shape("residual", residual) + " does not broadcast to " +
                   named_shape("y", y) +
                   "; axes are matched from the right and each must be equal or 1");
  }
  const bool same = residual.data() == y.data() && residual.dtype() == y.dtype() &&
                    residual.shape() == y.shape() && residual.strides() == y.strides();
  if (!same) kChecks.apart("y", y, "residual", residual);
}

// What is kept lies as y does, and apart from everything else.
void check_kept(const char* name, const MutableView& kept, const View& x, const MutableView& y,
                const LinearOptions& options) {
  if (!kept) return;
  if (kept.dtype() != y.dtype() || kept.shape() != y.shape() || kept.strides() != y.strides()) {
    kChecks.refuse(named_shape(name, kept) + " must have the dtype, shape and strides of " +
                   named_shape("y", y));
  }
  kChecks.written(name, kept);
  kChecks.apart(name, kept, "x", x);
  kChecks.apart(name, kept, "y", y);
  kChecks.apart(name, kept, "bias", options.bias);
  kChecks.apart(name, kept, "gate_bias", options.gate_bias);
  kChecks.apart(name, kept, "residual", options.residual);
}

void check(const View& x, const PackedWeights& weights, const MutableView& y,
           const LinearOptions& options) {
  if (!weights) kChecks.refuse("weights are missing: pack them first (PackedWeights)");
  kChecks.floats("x", x);
  kChecks.written("y", y);
  kChecks.rank("x", x, 1, "(..., K)");
  Shape wanted = x.shape();
  if (wanted[x.rank() - 1] != weights.inputs()) {
    kChecks.refuse(named_shape("x", x) + " must end in K = " + std::to_string(weights.inputs()) +
                   ", the inputs of weights (" + std::to_string(weights.outputs()) + "," +
                   std::to_string(weights.inputs()) + ")");
  }
  wanted[x.rank() - 1] = weights.outputs();
  kChecks.shape("y", y, wanted, "(..., N)");
  kChecks.same_width("y", y, "x", x);
  if ((weights.format() == WeightFormat::float64) != (x.dtype() == DType::float64)) {
    kChecks.refuse("weights are " + std::string(name_of(weights.format())) + " and x is " +
                   std::string(name_of(x.dtype())) +
                   "; float64 meets only float64: convert one of them");
  }
  check_bias("bias", options.bias, weights.outputs(), y);
  check_bias("gate_bias", options.gate_bias, weights.outputs(), y);
  if (options.gate_bias && !weights.is_gated()) {
    kChecks.refuse("gate_bias needs gated weights (PackedWeights::gated)");
  }
  if (options.residual) check_residual(options.residual, y);
  kChecks.apart("y", y, "x", x);
  kChecks.apart("y", y, "bias", options.bias);
  kChecks.apart("y", y, "gate_bias", options.gate_bias);
  check_kept("before_activation", options.before_activation, x, y, options);
  check_kept("gate_before_activation", options.gate_before_activation, x, y, options);
  if (options.gate_before_activation && !weights.is_gated()) {
    kChecks.refuse("gate_before_activation needs gated weights (PackedWeights::gated)");
  }
  if (options.before_activation) {
    kChecks.apart("before_activation", options.before_activation, "gate_before_activation",
                  options.gate_before_activation);
  }
}

}  // namespace

void linear(const View& x, const PackedWeights& weights, const MutableView& y,
            const LinearOptions& options) {
  check(x, weights, y, options);
  const int threads = resolve_threads(options.threads);
  const StoredPanels panels(*weights.storage());
  Product product;
  product.columns = weights.outputs();
  product.depth = weights.inputs();
  product.right = &panels;
  product.gated = weights.is_gated();
  product.bias = bias_row(options.bias);
  product.gate_bias = bias_row(options.gate_bias);
  product.curve = curve_of(options.activation, kChecks);
  for (int axis = 0; axis + 1 < x.rank(); ++axis) {
    product.batch.add(x.shape()[axis],
                      {stride_of(x, axis), 0, broadcast_stride(options.residual, axis, y.rank()),
                       stride_of(y, axis)});
  }
  const ProductAxes::Axis rows = product.batch.take_innermost();
  product.rows = rows.length;
  product.left = {x.data(), x.dtype(), rows.strides[kLeft], stride_from_end(x, -1)};
  if (options.residual) {
    product.residual = {options.residual.data(), options.residual.dtype(), rows.strides[kResidual],
                        broadcast_stride(options.residual, y.rank() - 1, y.rank())};
  }
  product.out = {y.data(), y.dtype(), rows.strides[kOut], stride_from_end(y, -1)};
  if (options.before_activation) product.before = options.before_activation.data();
  if (options.gate_before_activation) product.gate_before = options.gate_before_activation.data();
  compute(product, threads);
}

}  // namespace volvelle
