#include "ops/activation_backward.h"

#include "kernels/activation_gradient.h"
#include "ops/pieces.h"

namespace volvelle {

void activation_backward(kernels::Curve curve, const View& x, const View& grad,
                         const MutableView& grad_x, int threads) {
  if (x.dtype() == DType::float64) {
    for_pieces(x, threads, [&](std::int64_t first, std::int64_t count) {
      kernels::activation_gradients_double().plain(
          curve, static_cast<const double*>(x.data()) + first,
          static_cast<const double*>(grad.data()) + first, count,
          static_cast<double*>(grad_x.data()) + first);
    });
    return;
  }
  for_pieces(x, threads, [&](std::int64_t first, std::int64_t count) {
    PieceIn in(x), back(grad);
    PieceOut out(grad_x);
    kernels::activation_gradients().plain(curve, in.read(first, count), back.read(first, count),
                                          count, out.place(first));
    out.write(first, count);
  });
}

void gated_backward(kernels::Curve curve, const View& gate, const View& up, const View& grad,
                    const MutableView& grad_gate, const MutableView& grad_up, int threads) {
  if (gate.dtype() == DType::float64) {
    for_pieces(gate, threads, [&](std::int64_t first, std::int64_t count) {
      kernels::activation_gradients_double().gated(
          curve, static_cast<const double*>(gate.data()) + first,
          static_cast<const double*>(up.data()) + first,
          static_cast<const double*>(grad.data()) + first, count,
          static_cast<double*>(grad_gate.data()) + first,
          static_cast<double*>(grad_up.data()) + first);
    });
    return;
  }
  for_pieces(gate, threads, [&](std::int64_t first, std::int64_t count) {
    PieceIn gates(gate), ups(up), back(grad);
    PieceOut to_gate(grad_gate), to_up(grad_up);
    kernels::activation_gradients().gated(curve, gates.read(first, count), ups.read(first, count),
                                          back.read(first, count), count, to_gate.place(first),
                                          to_up.place(first));
    to_gate.write(first, count);
    to_up.write(first, count);
  });
}

}  // namespace volvelle
