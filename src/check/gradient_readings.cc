#include "check/gradient_readings.h"

#include <vector>

#include "check/output_layout.h"
#include "check/row_reader.h"
#include "check/shape_fit.h"

namespace volvelle {
namespace {

// The array summed to a shape that divides each of its four axes: neighbours along an axis that
// grew by a factor fall together.
Tensor summed(const View& view, const std::int64_t (&shape)[4]) {
  const FourAxes from(view);
  Tensor sums = Tensor::zeros(DType::float64, {shape[0], shape[1], shape[2], shape[3]});
  double* out = sums.data<double>();
  std::int64_t factor[4];
  for (int axis = 0; axis < 4; ++axis) {
    factor[axis] = shape[axis] == 0 ? 1 : from.shape[axis] / shape[axis];
  }
  std::vector<double> row(static_cast<std::size_t>(from.shape[3]));
  for (std::int64_t a = 0; a < from.shape[0]; ++a) {
    for (std::int64_t b = 0; b < from.shape[1]; ++b) {
      for (std::int64_t c = 0; c < from.shape[2]; ++c) {
        from.read(a, b, c, row.data());
        double* to = out + ((a / factor[0] * shape[1] + b / factor[1]) * shape[2] + c / factor[2]) *
                               shape[3];
        for (std::int64_t d = 0; d < from.shape[3]; ++d) {
          to[d / factor[3]] += row[static_cast<std::size_t>(d)];
        }
      }
    }
  }
  return sums;
}

// One gradient of k or v for each query head.
std::optional<GradientReading> by_query_head(const ResolvedAttention& r, const FourAxes& ours,
                                             const View& theirs) {
  const FourAxes given(theirs);
  const bool fits = r.heads != r.key_heads && given.shape[0] == ours.shape[0] &&
                    given.shape[1] == r.heads && given.shape[2] == ours.shape[2] &&
                    given.shape[3] == ours.shape[3];
  if (!fits) return std::nullopt;
  GradientReading reading;
  reading.owned = summed(theirs, ours.shape);
  reading.view = reading.owned.view();
  reading.fault = "key_heads_not_summed";
  reading.what = "has one gradient for each of the H=" + std::to_string(r.heads) + " query heads";
  reading.when_right = "summed over the " + std::to_string(r.heads / r.key_heads) +
                       " that read each of the G=" + std::to_string(r.key_heads) + " key heads";
  return reading;
}

// A bias's gradient with axes that the bias was broadcast along.
std::optional<GradientReading> by_broadcast_axis(const ResolvedAttention& r, const FourAxes& ours,
                                                 const View& theirs) {
  static constexpr const char* kAxes[] = {"batch", "heads", "queries", "keys"};
  const std::int64_t full[4] = {r.batch, r.heads, r.queries, r.keys};
  const FourAxes given(theirs);
  std::string axes;
  for (int axis = 0; axis < 4; ++axis) {
    if (given.shape[axis] == ours.shape[axis]) continue;
    if (ours.shape[axis] != 1 || given.shape[axis] != full[axis]) return std::nullopt;
    axes += (axes.empty() ? "" : " and ") + std::string(kAxes[axis]);
  }
  if (axes.empty()) return std::nullopt;
  GradientReading reading;
  reading.owned = summed(theirs, ours.shape);
  reading.view = reading.owned.view();
  reading.fault = "bias_not_summed";
  reading.what = "has the shape " + to_string(theirs.shape());
  reading.when_right = "summed over " + axes + ", along which the bias was broadcast";
  return reading;
}

// "(B,T,H,E)" of an output, as the gradient's own axes are called.
std::string in_letters_of(GradientOf of, std::string axes) {
  for (char& letter : axes) {
    if (letter == 'E' && of != GradientOf::v) letter = 'D';
    if (letter == 'H' && of != GradientOf::q) letter = 'G';
    if (letter == 'T' && of != GradientOf::q) letter = 'S';
  }
  return axes;
}

std::optional<GradientReading> in_other_order(const GradientPair& pair, const FourAxes& ours,
                                              const View& theirs, const View& ours_on_four) {
  std::optional<GradientReading> best;
  std::int64_t fewest = 0;
  for (const OutputReading& one : other_readings(theirs, ours.shape)) {
    const std::int64_t failing = compare(ours_on_four, one.view, pair.options).failing;
    if (best && failing >= fewest) continue;
    fewest = failing;
    best = GradientReading{one.view, Tensor(), "layout",
                           "has its axes in " + in_letters_of(pair.of, one.axes) + " order",
                           "brought to the order of ours"};
  }
  return best;
}

}  // namespace

std::optional<GradientReading> read_gradient(const ResolvedAttention& resolved,
                                             const GradientPair& pair, const View& theirs) {
  if (theirs.rank() > 4) return std::nullopt;
  const FourAxes ours(pair.ours);
  const View four(pair.ours.data(), pair.ours.dtype(),
                  {ours.shape[0], ours.shape[1], ours.shape[2], ours.shape[3]},
                  {ours.stride[0], ours.stride[1], ours.stride[2], ours.stride[3]});
  if (const View same = on_axes_of(four, theirs)) return GradientReading{same, {}, "", "", ""};
  switch (pair.of) {
    case GradientOf::k:
    case GradientOf::v:
      if (auto reading = by_query_head(resolved, ours, theirs)) return reading;
      [[fallthrough]];
    case GradientOf::q:
      return in_other_order(pair, ours, theirs, four);
    case GradientOf::bias:
      return by_broadcast_axis(resolved, ours, theirs);
    default:
      return std::nullopt;
  }
}

}  // namespace volvelle
