#include "cli/position_steps.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "cli/hand_text.h"
#include "cli/score_table.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

const char* name_of(MetSide side) { return side == MetSide::queries ? "query" : "key"; }

std::string signed_number(std::int64_t value) {
  return (value > 0 ? "+" : "") + std::to_string(value);
}

// The angle that a table's cosine and sine say: within half a turn, or, where position 1 says how
// far a position turns, with its whole turns.
double angle(const MetRows& met, MetSide side, std::int64_t row, std::int64_t pair) {
  constexpr double kTurn = 2 * std::numbers::pi;
  const double within = std::atan2(met.sine(side, row, pair), met.cosine(side, row, pair));
  const auto position = static_cast<double>(met.position(side, row));
  const double whole = position * met.angle_of_one(side, pair);
  const double turns = std::round((whole - within) / kTurn);
  const bool fits = std::fabs(within + turns * kTurn - whole) <= 1e-6 * (1 + position);
  return fits ? within + turns * kTurn : within;
}

// The angle of each pair; a table may hold a factor beside it.
std::string angle_table(const MetRows& met, MetSide side, std::int64_t rows, int digits) {
  return render(LabelledMatrix{
      .rows = rows,
      .columns = met.pairs(),
      .row_label =
          [&](std::int64_t i) {
            return std::string(name_of(side)) + ' ' + std::to_string(i) + " at " +
                   std::to_string(met.position(side, i));
          },
      .column_label =
          [&](std::int64_t pair) {
            return '(' + std::to_string(met.first(pair)) + ',' + std::to_string(met.second(pair)) +
                   ')';
          },
      .cell = [&](std::int64_t i,
                  std::int64_t pair) { return rounded(angle(met, side, i, pair), digits); },
  });
}

// Cosine and sine of an angle lie on the circle; scalings and decays lengthen what they turn.
bool has_factors(const MetRows& met, MetSide side, std::int64_t rows) {
  for (std::int64_t i = 0; i < std::min<std::int64_t>(rows, 64); ++i) {
    for (std::int64_t pair = 0; pair < met.pairs(); ++pair) {
      const double length = std::hypot(met.cosine(side, i, pair), met.sine(side, i, pair));
      if (std::fabs(length - 1) > 1e-5) return true;
    }
  }
  return false;
}

std::string pair_by_hand(const MetRows& met, MetSide side, const View& before, const View& after,
                         std::int64_t row, int digits) {
  const auto number = [&](double value) { return in_brackets(rounded(value, digits)); };
  const std::int64_t a = met.first(0), b = met.second(0);
  const std::string x = number(element(before, row, a)), y = number(element(before, row, b));
  const std::string c = number(met.cosine(side, row, 0)), s = number(met.sine(side, row, 0));
  return wrapped(std::string(name_of(side)) + ' ' + std::to_string(row) + ", columns " +
                     std::to_string(a) + " and " + std::to_string(b) + ": (" + x + '*' + c + " - " +
                     y + '*' + s + ", " + x + '*' + s + " + " + y + '*' + c + ") = (" +
                     rounded(element(after, row, a), digits) + ", " +
                     rounded(element(after, row, b), digits) + ')',
                 {}, 4);
}

// A row that really turns: not the one at position 0.
std::int64_t row_by_hand(const MetRows& met, MetSide side, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    if (met.position(side, i) != 0) return i;
  }
  return 0;
}

}  // namespace

std::string turn_text(const AttentionProblem& problem, const AttentionPlan& plan,
                      const MetRows& met, const View& q, const View& k, int digits) {
  struct Side {
    MetSide side;
    std::int64_t rows;
    View before, after;
    const char* title;
  };
  const Side sides[] = {{MetSide::queries, plan.queries, q, met.q(), "  turned Q\n"},
                        {MetSide::keys, plan.keys, k, met.k(), "  turned K\n"}};
  std::vector<std::string> angles, turned;
  std::string by_hand;
  bool factors = false;
  for (const Side& side : sides) {
    if (!met.turns(side.side) || side.rows == 0) continue;
    angles.push_back(angle_table(met, side.side, side.rows, digits));
    turned.push_back(side.title + row_table(side.after, name_of(side.side), digits));
    factors = factors || has_factors(met, side.side, side.rows);
    if (by_hand.empty() && met.pairs() > 0) {
      const std::int64_t row = row_by_hand(met, side.side, side.rows);
      by_hand = pair_by_hand(met, side.side, side.before, side.after, row, digits);
    }
  }
  std::string text =
      "  Angle of each pair of columns, in radians\n" + beside(angles, {}, 2) + '\n' + by_hand;
  if (factors) {
    text += wrapped(
        "The table holds a factor beside cosine and sine: pairs change their length, "
        "too.");
  }
  text += '\n' + beside(turned, {}, 2);
  const std::int64_t passing = plan.head_width - 2 * met.pairs();
  if (passing > 0) {
    text += wrapped("The last " + std::to_string(passing) + " of " +
                    std::to_string(plan.head_width) + " columns pass as they are.");
  }
  if (problem.rotary.keys_are_turned) text += wrapped("Keys were turned before.");
  return text;
}

std::string relative_text(const AttentionProblem& problem, const AttentionPlan& plan,
                          const MetRows& met, int digits) {
  const auto number = [&](double value) { return in_brackets(rounded(value, digits)); };
  std::string text;
  if (plan.queries > 0 && plan.keys > 0 && problem.relative_keys) {
    const std::int64_t i = plan.queries - 1, j = 0;
    const Tensor keys = met.keys_for(i);
    std::string sum;
    double of_keys = 0;
    for (std::int64_t d = 0; d < plan.head_width; ++d) {
      const double q = element(met.q(), i, d);
      const double r = element(keys.view(), j, d) - element(met.k(), j, d);
      of_keys += q * r;
      if (d > kHandTerms) continue;
      if (d > 0) sum += " + ";
      sum += d == kHandTerms ? "..." : number(q) + '*' + number(r);
    }
    text = wrapped("query " + std::to_string(i) + ", key " + std::to_string(j) + ", offset " +
                       signed_number(met.offset(problem.relative_keys, i, j)) + ": " + sum + " = " +
                       rounded(of_keys, digits),
                   {}, 4) +
           '\n';
  }
  return text +
         render(LabelledMatrix{
             .rows = plan.queries,
             .columns = plan.keys,
             .row_label = [](std::int64_t i) { return "query " + std::to_string(i); },
             .column_label = [](std::int64_t j) { return "key " + std::to_string(j); },
             .cell = [&](std::int64_t i,
                         std::int64_t j) { return rounded(met.relative_score(i, j), digits); },
         });
}

Tensor plain_products(const MetRows& met) {
  const std::int64_t queries = met.q().shape()[0], keys = met.k().shape()[0];
  Tensor products(DType::float64, Shape{queries, keys});
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) {
      double sum = 0;
      for (std::int64_t d = 0; d < met.q().shape()[1]; ++d) {
        sum += element(met.q(), i, d) * element(met.k(), j, d);
      }
      products.data<double>()[i * keys + j] = sum;
    }
  }
  return products;
}

}  // namespace volvelle::cli
