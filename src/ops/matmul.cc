#include "volvelle/ops/matmul.h"

#include "base/thread_pool.h"
#include "ops/checks.h"
#include "ops/leading_axes.h"
#include "ops/product.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("matmul");

// The last two axes must be `rows` x `columns`, those before broadcast to c's.
void check_operand(const char* name, const View& view, std::int64_t rows, std::int64_t columns,
                   const char* axes, const View& c) {
  const int rank = view.rank();
  if (view.shape()[rank - 2] != rows || view.shape()[rank - 1] != columns) {
    kChecks.refuse(named_shape(name, view) + " must end in " + axes + " = " +
                   to_string(Shape{rows, columns}));
  }
  bool fits = rank <= c.rank();
  for (int axis = 3; fits && axis <= rank; ++axis) {
    const std::int64_t own = view.shape()[rank - axis];
    fits = own == 1 || own == c.shape()[c.rank() - axis];
  }
  if (!fits) {
    kChecks.refuse("the leading axes of " + named_shape(name, view) +
                   " do not broadcast to those of " + named_shape("c", c) +
                   "; they are matched from the right and each must be equal or 1");
  }
}

void check(const View& a, const View& b, const MutableView& c) {
  kChecks.floats("a", a);
  kChecks.floats("b", b);
  kChecks.written("c", c);
  kChecks.same_width("a", a, "b", b);
  kChecks.same_width("c", c, "a", a);
  kChecks.rank("a", a, 2, "(..., M, K)");
  kChecks.rank("b", b, 2, "(..., K, N)");
  kChecks.rank("c", c, 2, "(..., M, N)");
  const std::int64_t m = c.shape()[c.rank() - 2];
  const std::int64_t n = c.shape()[c.rank() - 1];
  const std::int64_t k = a.shape()[a.rank() - 1];
  check_operand("a", a, m, k, "(M,K)", c);
  check_operand("b", b, k, n, "(K,N)", c);
  kChecks.apart("c", c, "a", a);
  kChecks.apart("c", c, "b", b);
}

}  // namespace

void matmul(const View& a, const View& b, const MutableView& c, const MatmulOptions& options) {
  check(a, b, c);
  const int threads = resolve_threads(options.threads);
  const int rank = c.rank();
  const ViewPanels panels({b.data(), b.dtype(), stride_from_end(b, -2), stride_from_end(b, -1)},
                          c.shape()[rank - 1]);
  Product product;
  product.columns = c.shape()[rank - 1];
  product.depth = a.shape()[a.rank() - 1];
  product.right = &panels;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    const bool is_row = axis + 2 == rank;  // the right operand's last but one axis is another
    product.batch.add(c.shape()[axis], {broadcast_stride(a, axis, rank),
                                        is_row ? 0 : broadcast_stride(b, axis, rank),
                                        stride_of(c, axis), stride_of(c, axis)});
  }
  // A single row has left no axis of its own; the one inside may be of matrices that differ.
  const bool is_rows = product.batch.innermost().strides[kRight] == 0;
  const ProductAxes::Axis rows = is_rows ? product.batch.take_innermost() : ProductAxes::Axis();
  product.rows = rows.length;
  product.left = {a.data(), a.dtype(), rows.strides[kLeft], stride_from_end(a, -1)};
  product.out = {c.data(), c.dtype(), rows.strides[kOut], stride_from_end(c, -1)};
  if (options.store == Store::accumulate) {
    product.residual = {c.data(), c.dtype(), product.out.row, product.out.column};
  }
  compute(product, threads);
}

}  // namespace volvelle
