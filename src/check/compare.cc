#include "volvelle/check/compare.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "check/array_size.h"
#include "check/row_difference.h"
#include "check/row_reader.h"
#include "check/shape_fit.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

double unit_of(DType dtype) { return dtype == DType::float64 ? 0x1p-52 : 0x1p-23; }

// One step of a storage type between 1 and 2, relative; 0 for types wider than the arithmetic.
double storage_step(DType dtype) {
  if (dtype == DType::bfloat16) return 0x1p-7;
  if (dtype == DType::float16) return 0x1p-10;
  return 0;
}

View with_last_axis(const View& view) {
  Axes shape = view.shape();
  Axes strides = view.strides();
  shape.push_back(1);
  strides.push_back(0);
  return View(view.data(), view.dtype(), shape, strides);
}

Tolerance tolerance_for(const FourAxes& ours, DType theirs, const CompareOptions& options) {
  for (const auto& given : {options.atol, options.rtol}) {
    if (given && !(*given >= 0)) {
      throw InvalidArgument("[compare] a tolerance is a number of at least 0, not " +
                            std::to_string(*given));
    }
  }
  const double share =
      options.times * relative_tolerance(options.computed_in.value_or(ours.view.dtype()), theirs,
                                         options.width, options.keys);
  Tolerance tolerance{0, options.rtol.value_or(share), !options.rtol.has_value()};
  tolerance.atol = options.atol ? *options.atol : share * root_mean_square_of(ours.view);
  return tolerance;
}

// The index on the axes that the array has.
std::vector<std::int64_t> index_on_axes(int rank, std::int64_t b, std::int64_t h, std::int64_t t,
                                        std::int64_t e) {
  const std::int64_t all[4] = {b, h, t, e};
  return std::vector<std::int64_t>(all + (4 - rank), all + 4);
}

void add(PartDifference& part, const RowDifference& row) {
  part.failing += row.failing;
  part.failing_rows += row.failing > 0 ? 1 : 0;
  part.max_abs = std::max(part.max_abs, row.max_abs);
}

void keep_worst(std::vector<RowDifference>& worst, const RowDifference& row) {
  constexpr std::size_t kKept = 8;
  const auto place =
      std::upper_bound(worst.begin(), worst.end(), row,
                       [](const auto& a, const auto& b) { return a.excess > b.excess; });
  if (worst.size() == kKept && place == worst.end()) return;
  worst.insert(place, row);
  if (worst.size() > kKept) worst.pop_back();
}

std::vector<PartDifference> failing_only(const std::vector<PartDifference>& parts) {
  std::vector<PartDifference> failing;
  for (const PartDifference& part : parts) {
    if (part.failing > 0) failing.push_back(part);
  }
  return failing;
}

std::vector<PartDifference> numbered(std::int64_t count) {
  std::vector<PartDifference> parts(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) parts[static_cast<std::size_t>(i)].index = i;
  return parts;
}

Comparison compare_axes(const FourAxes& ours, const FourAxes& theirs, int rank,
                        const CompareOptions& options) {
  Comparison result;
  result.tolerance = tolerance_for(ours, theirs.view.dtype(), options);
  result.rows = ours.rows();
  result.elements = result.rows * ours.shape[3];
  std::vector<PartDifference> heads = numbered(ours.shape[1]);
  std::vector<PartDifference> batches = numbered(ours.shape[0]);
  const auto width = static_cast<std::size_t>(ours.shape[3]);
  std::vector<double> a(width), b(width);
  for (std::int64_t batch = 0; batch < ours.shape[0]; ++batch) {
    for (std::int64_t head = 0; head < ours.shape[1]; ++head) {
      for (std::int64_t row = 0; row < ours.shape[2]; ++row) {
        ours.read(batch, head, row, a.data());
        theirs.read(batch, head, row, b.data());
        const double size = root_mean_square(a.data(), ours.shape[3]);
        RowDifference here{batch, head, row, 0, 0, 0};
        for (std::size_t e = 0; e < width; ++e) {
          const double apart = difference(a[e], b[e]);
          if (apart == 0) continue;
          const double over = excess(a[e], b[e], result.tolerance, size);
          here.max_abs = std::max(here.max_abs, apart);
          here.excess = std::max(here.excess, over);
          if (!(over <= 1)) {
            ++here.failing;
            if (std::isinf(apart)) ++result.nonfinite;
          }
          const auto index = [&] {
            return index_on_axes(rank, batch, head, row, static_cast<std::int64_t>(e));
          };
          if (apart > result.max_abs) {
            result.max_abs = apart;
            result.at = index();
            result.ours_at = a[e];
            result.theirs_at = b[e];
          }
          const double relative =
              std::isinf(apart) ? apart : apart / std::max(std::fabs(a[e]), std::fabs(b[e]));
          if (relative > result.max_rel) {
            result.max_rel = relative;
            result.at_rel = index();
          }
        }
        result.failing += here.failing;
        add(heads[static_cast<std::size_t>(head)], here);
        add(batches[static_cast<std::size_t>(batch)], here);
        if (here.failing > 0) {
          ++result.failing_rows;
          keep_worst(result.worst_rows, here);
        }
      }
    }
  }
  result.heads = failing_only(heads);
  result.batches = failing_only(batches);
  result.matches = result.failing == 0;
  return result;
}

void require(bool holds, const std::string& message) {
  if (!holds) throw InvalidArgument("[compare] " + message);
}

View fitted(const View& ours, const View& theirs, int most_axes) {
  require(static_cast<bool>(ours) && static_cast<bool>(theirs), "an array is absent");
  require(ours.rank() <= most_axes,
          "at most " + std::to_string(most_axes) + " axes, not " + to_string(ours.shape()));
  require(is_floating(theirs.dtype()),
          "a floating array is needed, not " + std::string(name_of(theirs.dtype())));
  const View fits = on_axes_of(ours, theirs);
  require(static_cast<bool>(fits), "shapes differ: ours " + to_string(ours.shape()) + ", theirs " +
                                       to_string(theirs.shape()));
  return fits;
}

}  // namespace

double relative_tolerance(DType ours, DType theirs, std::int64_t width, std::int64_t keys) {
  const double terms =
      16 + 4 * std::sqrt(static_cast<double>(width)) + 2 * std::sqrt(static_cast<double>(keys));
  // A file in a wider type than ours says nothing finer than ours.
  return std::max(unit_of(ours), unit_of(theirs)) * terms +
         2 * std::max(storage_step(ours), storage_step(theirs));
}

Comparison compare(const View& ours, const View& theirs, const CompareOptions& options) {
  const View fits = fitted(ours, theirs, 4);
  return compare_axes(FourAxes(ours), FourAxes(fits), ours.rank(), options);
}

Comparison compare_rows(const View& ours, const View& theirs, const CompareOptions& options) {
  const View fits = fitted(ours, theirs, 3);
  Comparison result = compare_axes(FourAxes(with_last_axis(ours)), FourAxes(with_last_axis(fits)),
                                   ours.rank() + 1, options);
  for (auto* at : {&result.at, &result.at_rel}) {
    if (!at->empty()) at->pop_back();
  }
  return result;
}

}  // namespace volvelle
