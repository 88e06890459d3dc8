#include "check/gradient_factors.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/fault_text.h"
#include "check/row_reader.h"

namespace volvelle {
namespace {

void for_each_row(const FourAxes& array,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& row) {
  for (std::int64_t a = 0; a < array.shape[0]; ++a) {
    for (std::int64_t b = 0; b < array.shape[1]; ++b) {
      for (std::int64_t c = 0; c < array.shape[2]; ++c) row(a, b, c);
    }
  }
}

// The factor c for which c * ours comes closest to theirs.
double closest_factor(const GradientPair& pair) {
  const FourAxes ours(pair.ours), theirs(pair.theirs);
  std::vector<double> x(static_cast<std::size_t>(ours.shape[3])), y(x.size());
  double both = 0, own = 0;
  for_each_row(ours, [&](std::int64_t a, std::int64_t b, std::int64_t c) {
    ours.read(a, b, c, x.data());
    theirs.read(a, b, c, y.data());
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (!std::isfinite(x[d]) || !std::isfinite(y[d])) continue;
      both += x[d] * y[d];
      own += x[d] * x[d];
    }
  });
  return own > 0 ? both / own : 0;
}

bool all_zero(const View& view) {
  const FourAxes array(view);
  std::vector<double> row(static_cast<std::size_t>(array.shape[3]));
  bool zero = true;
  for_each_row(array, [&](std::int64_t a, std::int64_t b, std::int64_t c) {
    array.read(a, b, c, row.data());
    for (const double value : row) zero = zero && value == 0;
  });
  return zero;
}

// Whether theirs is factor * ours, and then how far at most from it.
std::optional<double> apart_by(const GradientPair& pair, double factor) {
  Tensor scaled = converted(pair.ours, DType::float64);
  double* values = scaled.data<double>();
  for (std::int64_t i = 0; i < scaled.size(); ++i) values[i] *= factor;
  CompareOptions options = pair.options;
  // The tolerance grows and shrinks with what it is about.
  if (options.atol) *options.atol *= std::fabs(factor);
  const Comparison compared = compare(scaled.view(), pair.theirs, options);
  if (!compared.matches) return std::nullopt;
  return compared.max_abs;
}

bool is_keys_or_values(GradientOf of) { return of == GradientOf::k || of == GradientOf::v; }
bool by_products(GradientOf of) { return of == GradientOf::q || of == GradientOf::k; }

// A number of which a factor may be made, and what it then means; the first that fits is taken.
struct Meaning {
  const char* fault;
  double factor;
  std::string sentence;  ///< behind the names of the gradients
};

std::vector<Meaning> meanings(const ResolvedAttention& r, const GradientPair& pair) {
  std::vector<Meaning> list;
  const std::string scale = fault_number(r.scale);
  if (by_products(pair.of)) {
    list.push_back({"scale_missing", 1 / r.scale, "without the factor scale, " + scale});
    list.push_back({"scale_twice", r.scale, "with the factor scale, " + scale + ", used twice"});
  }
  const std::int64_t group = r.heads / r.key_heads;
  if (is_keys_or_values(pair.of) && group > 1) {
    list.push_back({"key_heads_averaged", 1 / static_cast<double>(group),
                    "averaged, not summed, over the " + std::to_string(group) +
                        " query heads that read each key head"});
  }
  if (pair.of == GradientOf::bias && pair.options.keys > 1) {
    list.push_back({"bias_averaged", 1 / static_cast<double>(pair.options.keys),
                    "averaged, not summed, over the " + std::to_string(pair.options.keys) +
                        " places that read each element"});
  }
  if (pair.of == GradientOf::slopes) {
    list.push_back(
        {"slope_gradient_sign", -1, "with the sign turned: a slope takes away slope * |p - j|"});
  }
  list.push_back({"gradient_sign", -1, "with the sign turned"});
  return list;
}

struct Factor {
  GradientPair* pair;
  double value;
  double apart;
};

// Says one thing about all gradients of which it is true.
class Sayings {
 public:
  void add(const Meaning& meaning, const Factor& factor) {
    for (Saying& one : sayings_) {
      if (one.meaning.fault != std::string(meaning.fault) ||
          one.meaning.sentence != meaning.sentence) {
        continue;
      }
      one.pairs.push_back(factor.pair);
      one.apart = std::max(one.apart, factor.apart);
      return;
    }
    sayings_.push_back({meaning, {factor.pair}, factor.apart});
  }
  void tell(std::vector<Diagnosis>& found) const {
    for (const Saying& one : sayings_) {
      const bool several = one.pairs.size() > 1;
      found.push_back({one.meaning.fault,
                       "your " + names_of(one.pairs) +
                           (several ? " equal ours " : " equals ours ") + one.meaning.sentence,
                       one.apart});
    }
  }

 private:
  struct Saying {
    Meaning meaning;
    std::vector<const GradientPair*> pairs;
    double apart = 0;
  };
  std::vector<Saying> sayings_;
};

bool near(double a, double b) { return std::fabs(a - b) <= 1e-3 * std::fabs(b); }

std::optional<Meaning> meaning_of(const ResolvedAttention& r, const Factor& factor) {
  for (Meaning& known : meanings(r, *factor.pair)) {
    if (near(factor.value, known.factor)) return std::move(known);
  }
  return std::nullopt;
}

// One factor on every gradient there is, two or more of them, that does not explain itself for each
// of them alone: grad_output was scaled.
bool same_throughout(const ResolvedAttention& r, const GradientPairs& pairs,
                     const std::vector<Factor>& factors) {
  if (factors.size() != pairs.size() || factors.size() < 2) return false;
  bool unknown = false;
  for (const Factor& factor : factors) {
    if (!near(factor.value, factors.front().value)) return false;
    unknown = unknown || !meaning_of(r, factor);
  }
  return unknown;
}

std::string of_grad_output(const ResolvedAttention& r, double factor) {
  const std::string times =
      "times " + fault_number(factor) + ", all of them: grad_output was scaled";
  const std::int64_t elements = r.batch * r.heads * r.queries * r.value_width;
  if (elements > 1 && near(factor, 1 / static_cast<double>(elements))) {
    return times + ", as by the mean over all " + std::to_string(elements) + " outputs";
  }
  return times;
}

// k's gradient in the place of v's, and so on.
void explain_exchanged(GradientPairs& pairs, std::vector<Diagnosis>& found) {
  for (GradientPair& pair : pairs) {
    if (pair.comparison.matches || pair.explained) continue;
    for (const GradientPair& other : pairs) {
      if (&other == &pair || other.ours.shape() != pair.ours.shape()) continue;
      const Comparison compared = compare(other.ours, pair.theirs, other.options);
      if (!compared.matches) continue;
      pair.explained = true;
      found.push_back({"gradients_exchanged",
                       std::string("your ") + pair.name + " equals our " + other.name,
                       compared.max_abs});
      break;
    }
  }
}

}  // namespace

void explain_by_factor(const ResolvedAttention& resolved, GradientPairs& pairs,
                       std::vector<Diagnosis>& found) {
  std::vector<Factor> factors;
  for (GradientPair& pair : pairs) {
    if (pair.comparison.matches) continue;
    if (all_zero(pair.theirs)) {
      pair.explained = true;
      found.push_back({"gradient_zero",
                       std::string("your ") + pair.name + " is 0 everywhere: it was not computed",
                       pair.comparison.max_abs});
      continue;
    }
    const double factor = closest_factor(pair);
    if (factor == 0) continue;
    if (const auto apart = apart_by(pair, factor)) factors.push_back({&pair, factor, *apart});
  }
  Sayings sayings;
  const bool throughout = same_throughout(resolved, pairs, factors);
  for (const Factor& factor : factors) {
    factor.pair->explained = true;
    if (throughout) {
      sayings.add({"grad_output_scaled", 0, of_grad_output(resolved, factors.front().value)},
                  factor);
      continue;
    }
    const std::optional<Meaning> known = meaning_of(resolved, factor);
    sayings.add(
        known ? *known : Meaning{"gradient_scaled", 0, "times " + fault_number(factor.value)},
        factor);
  }
  sayings.tell(found);
  explain_exchanged(pairs, found);
}

}  // namespace volvelle
