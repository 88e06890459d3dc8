#include "check/row_choice.h"

#include <algorithm>
#include <cmath>

#include "check/row_difference.h"

namespace volvelle {
namespace {

struct Ranked {
  QueryRow place;
  double excess = 0;
};

// The row of each head that differs most, the worst head first.
std::vector<Ranked> worst_of_each_head(const FourAxes& ours, const FourAxes& theirs,
                                       const Tolerance& tolerance) {
  std::vector<Ranked> worst;
  const auto width = static_cast<std::size_t>(ours.shape[3]);
  std::vector<double> a(width), b(width);
  for (std::int64_t batch = 0; batch < ours.shape[0]; ++batch) {
    for (std::int64_t head = 0; head < ours.shape[1]; ++head) {
      Ranked here;
      for (std::int64_t query = 0; query < ours.shape[2]; ++query) {
        ours.read(batch, head, query, a.data());
        theirs.read(batch, head, query, b.data());
        const double excess = row_excess(a, b, tolerance);
        if (excess > here.excess) here = {{batch, head, query}, excess};
      }
      if (here.excess > 0) worst.push_back(here);
    }
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [](const Ranked& x, const Ranked& y) { return x.excess > y.excess; });
  return worst;
}

QueryRow place_of(const FourAxes& rows, std::int64_t index) {
  const std::int64_t query = index % rows.shape[2];
  const std::int64_t line = index / rows.shape[2];
  return {line / rows.shape[1], line % rows.shape[1], query};
}

// The index-th of a sequence that covers all rows evenly however many are taken: multiples of the
// golden ratio, modulo 1.
QueryRow spread(const FourAxes& rows, std::int64_t index) {
  const double turn = static_cast<double>(index + 1) * 0.61803398874989485;
  const double part = turn - std::floor(turn);
  const auto at = static_cast<std::int64_t>(part * static_cast<double>(rows.rows()));
  return place_of(rows, std::min(at, rows.rows() - 1));
}

}  // namespace

RowChoice choose_rows(const ResolvedAttention& problem, const FourAxes& ours,
                      const FourAxes& theirs, const DiagnoseOptions& options) {
  RowChoice choice;
  if (ours.rows() == 0) return choice;
  const std::vector<Ranked> worst = worst_of_each_head(ours, theirs, options.tolerance);
  const auto heads_first =
      static_cast<std::size_t>(std::max<std::int64_t>(options.first_rows / 3, 1));
  for (std::size_t i = 0; i < worst.size(); ++i) {
    if (i >= heads_first + static_cast<std::size_t>(options.confirm_rows) / 2) break;
    (i < heads_first ? choice.first : choice.confirm).push_back(worst[i].place);
  }
  std::int64_t drawn = 0;
  while (static_cast<std::int64_t>(choice.first.size()) < options.first_rows) {
    choice.first.push_back(spread(ours, drawn++));
  }

  // Multiply-adds of all rows; below this every row is looked at.
  constexpr double kAllRows = 4e6;
  const double all = static_cast<double>(ours.rows()) * static_cast<double>(problem.keys + 1) *
                     static_cast<double>(problem.width + problem.value_width);
  if (all <= kAllRows) {
    for (std::int64_t i = 0; i < ours.rows(); ++i) choice.confirm.push_back(place_of(ours, i));
    return choice;
  }
  const QueryRow around = choice.first.front();
  for (const std::int64_t edge : {std::int64_t{0}, problem.queries - 1, problem.window,
                                  problem.window_right, problem.prefix, problem.chunk}) {
    for (const std::int64_t query : {edge - 1, edge, edge + 1}) {
      if (query < 0 || query >= ours.shape[2]) continue;
      choice.confirm.push_back({around.batch, around.head, query});
    }
  }
  while (static_cast<std::int64_t>(choice.confirm.size()) < options.confirm_rows) {
    choice.confirm.push_back(spread(ours, drawn++));
  }
  return choice;
}

}  // namespace volvelle
