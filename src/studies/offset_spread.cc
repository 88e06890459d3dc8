#include "studies/offset_spread.h"

#include <algorithm>
#include <limits>

namespace volvelle {
namespace {

PositionRows projected(const PositionRows& rows, const Tensor& matrix) {
  PositionRows result{rows.rows, rows.width, std::vector<double>(rows.values.size())};
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    for (std::int64_t c = 0; c < rows.width; ++c) {
      double sum = 0;
      for (std::int64_t k = 0; k < rows.width; ++k) {
        sum += rows.at(i, k) * static_cast<double>(matrix.data<float>()[k * rows.width + c]);
      }
      result.values[static_cast<std::size_t>(i * rows.width + c)] = sum;
    }
  }
  return result;
}

PositionRows products(const PositionRows& a, const PositionRows& b) {
  PositionRows result{a.rows, b.rows, {}};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.rows; ++j) {
      double sum = 0;
      for (std::int64_t c = 0; c < a.width; ++c) sum += a.at(i, c) * b.at(j, c);
      result.values.push_back(sum);
    }
  }
  return result;
}

}  // namespace

std::vector<OffsetSpread> offset_spreads(const PositionRows& products) {
  std::vector<OffsetSpread> spreads;
  const std::int64_t tokens = products.rows;
  for (std::int64_t offset = 1 - tokens; offset < tokens; ++offset) {
    OffsetSpread spread{offset, std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()};
    for (std::int64_t j = 0; j < tokens; ++j) {
      const std::int64_t i = j + offset;
      if (i < 0 || i >= tokens) continue;
      spread.least = std::min(spread.least, products.at(i, j));
      spread.largest = std::max(spread.largest, products.at(i, j));
    }
    spreads.push_back(spread);
  }
  return spreads;
}

double widest_spread(const std::vector<OffsetSpread>& spreads, std::int64_t most) {
  double widest = 0;
  for (const OffsetSpread& spread : spreads) {
    if (spread.offset >= -most && spread.offset <= most) widest = std::max(widest, spread.spread());
  }
  return widest;
}

PositionRows row_products(const PositionRows& rows) { return products(rows, rows); }

PositionRows projected_products(const PositionRows& rows, const PositionProblem& problem) {
  return products(projected(rows, problem.to_query), projected(rows, problem.to_key));
}

}  // namespace volvelle
