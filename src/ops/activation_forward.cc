#include "ops/activation_forward.h"

#include "kernels/activate.h"
#include "kernels/activation_double.h"
#include "ops/pieces.h"

namespace volvelle {

void activation_forward(kernels::Curve curve, const View& x, const MutableView& y, int threads) {
  if (x.dtype() == DType::float64) {
    const double* from = static_cast<const double*>(x.data());
    double* to = static_cast<double*>(y.data());
    for_pieces(x, threads, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) {
        to[i] = kernels::activated(curve, from[i]);
      }
    });
    return;
  }
  for_pieces(x, threads, [&](std::int64_t first, std::int64_t count) {
    PieceIn in(x);
    PieceOut out(y);
    kernels::activate(curve, in.read(first, count), count, out.place(first));
    out.write(first, count);
  });
}

void gated_forward(kernels::Curve curve, const View& gate, const View& up, const MutableView& y,
                   int threads) {
  if (gate.dtype() == DType::float64) {
    const double* gates = static_cast<const double*>(gate.data());
    const double* ups = static_cast<const double*>(up.data());
    double* to = static_cast<double*>(y.data());
    for_pieces(gate, threads, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) {
        to[i] = kernels::activated(curve, gates[i]) * ups[i];
      }
    });
    return;
  }
  for_pieces(gate, threads, [&](std::int64_t first, std::int64_t count) {
    PieceIn gates(gate), ups(up);
    PieceOut out(y);
    kernels::activate_gated(curve, gates.read(first, count), ups.read(first, count), count,
                            out.place(first));
    out.write(first, count);
  });
}

}  // namespace volvelle
