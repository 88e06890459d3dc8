#include "cli/attend_backward_steps.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cli/hand_text.h"
#include "cli/met_rows.h"
#include "cli/score_table.h"
#include "cli/view_axes.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kRowsByHand = 16;  // deltas written out

using Rows = std::function<Tensor(std::int64_t)>;

// The transpose of `factors` (T,S) times rows (T,X), which may differ for each key.
Tensor gathered(const View& factors, const Rows& rows_for, std::int64_t width) {
  const std::int64_t queries = factors.shape()[0], keys = factors.shape()[1];
  Tensor sums = Tensor::zeros(DType::float64, Shape{keys, width});
  for (std::int64_t j = 0; j < keys; ++j) {
    const Tensor rows = rows_for(j);
    for (std::int64_t i = 0; i < queries; ++i) {
      const double factor = element(factors, i, j);
      if (factor == 0) continue;
      for (std::int64_t x = 0; x < width; ++x) {
        sums.data<double>()[j * width + x] += factor * element(rows.view(), i, x);
      }
    }
  }
  return sums;
}

/// One head of one batch row on its way back.
class HeadBack {
 public:
  HeadBack(const AttendInputs& inputs, const AttendRun& run, std::int64_t batch, std::int64_t head,
           int digits)
      : plan_(run.plan),
        problem_(inputs.problem),
        digits_(digits),
        batch_(batch),
        head_(head),
        key_head_(head / (plan_.heads / plan_.key_heads)),
        met_(problem_, plan_, batch, head),
        v_(head_of(with_rank(problem_.v, 4), batch, key_head_)),
        back_(head_of(with_rank(inputs.grad_output, 4), batch, head)),
        weights_(step(run.steps->weights)),
        read_(step(run.steps->dropped ? run.steps->dropped : run.steps->weights)),
        excluded_(run.steps->excluded ? step(run.steps->excluded) : View()),
        grad_weights_(step(run.backward->steps->grad_weights)),
        grad_scores_(step(run.backward->steps->grad_scores)),
        grad_products_(step(run.backward->steps->grad_products)),
        delta_(picked(picked(run.backward->steps->delta.view(), 0, batch), 0, head)),
        grad_q_(head_of(run.backward->q_bhtd, batch, head)) {
    const bool turns = met_.turns(MetSide::queries);
    if (turns || grouped_heads()) {
      const auto queries = [&](std::int64_t j) { return met_.queries_for(j); };
      turned_k_ = gathered(grad_products_, queries, plan_.head_width);
    }
    if (turns) turned_q_ = grad_of_turned_queries();
    if (grouped_heads()) {
      const Tensor back = copy_of(back_);
      parts_ = {met_.turned_back(MetSide::keys, turned_k_.view()),
                gathered(read_, [&](std::int64_t) { return back; }, plan_.value_width)};
      grad_k_ = parts_[0].view();
      grad_v_ = parts_[1].view();
    } else {
      grad_k_ = head_of(run.backward->k_bgsd, batch, head);
      grad_v_ = head_of(run.backward->v_bgse, batch, head);
    }
  }

  std::vector<StepSection> sections() const;

 private:
  View step(const Tensor& tensor) const { return head_of(tensor.view(), batch_, head_); }
  std::string number(double value) const { return rounded(value, digits_); }
  bool is_excluded(std::int64_t i, std::int64_t j) const {
    return excluded_ && element(excluded_, i, j) != 0;
  }
  bool grouped_heads() const { return plan_.heads != plan_.key_heads; }
  std::string table(const View& matrix) const { return score_table(matrix, excluded_, digits_); }
  Tensor grad_of_turned_queries() const;
  std::string dot_products() const;
  std::string dropout_text() const;
  std::string of_key_head(const char* what) const;
  std::int64_t row_by_hand() const;
  std::string deltas() const;
  std::string jacobian(std::int64_t row) const;
  std::string query_by_hand(std::int64_t row, const View& sums) const;
  std::string key_by_hand(const char* name, const View& factors, const Rows& rows_for,
                          const View& sums) const;
  std::string grad_queries(std::int64_t row) const;
  std::string grad_keys() const;
  std::string sum_text() const;

  const AttentionPlan& plan_;
  const AttentionProblem& problem_;
  int digits_;
  std::int64_t batch_, head_, key_head_;
  MetRows met_;
  View v_, back_, weights_, read_, excluded_, grad_weights_, grad_scores_, grad_products_, delta_;
  View grad_q_, grad_k_, grad_v_;
  Tensor turned_q_, turned_k_;  // gradients by queries and keys as they met
  std::vector<Tensor> parts_;   // of a key head that several query heads read
};

Tensor HeadBack::grad_of_turned_queries() const {
  const std::int64_t width = plan_.head_width;
  Tensor sums = Tensor::zeros(DType::float64, Shape{plan_.queries, width});
  for (std::int64_t i = 0; i < plan_.queries; ++i) {
    const Tensor keys = met_.keys_for(i);
    for (std::int64_t j = 0; j < plan_.keys; ++j) {
      const double factor = element(grad_products_, i, j);
      if (factor == 0) continue;
      for (std::int64_t d = 0; d < width; ++d) {
        sums.data<double>()[i * width + d] += factor * element(keys.view(), j, d);
      }
    }
  }
  return sums;
}

// With dropout a dot product is not yet the gradient of its weight.
std::string HeadBack::dot_products() const {
  if (problem_.dropout > 0) return "";
  return dot_lines({.a_name = "g",
                    .a = back_,
                    .b_name = "v",
                    .b = v_,
                    .products = grad_weights_,
                    .b_for_row = problem_.relative_values
                                     ? [&](std::int64_t i) { return met_.values_for(i); }
                                     : Rows(),
                    .excluded = excluded_},
                   digits_) +
         '\n';
}

std::string HeadBack::dropout_text() const {
  if (problem_.dropout == 0) return "";
  return ", 0 where it was dropped, else over " + number(1 - problem_.dropout);
}

std::string HeadBack::of_key_head(const char* what) const {
  if (!grouped_heads()) return "";
  return wrapped("This head's part only: the " + std::string(what) + " of key head " +
                 std::to_string(key_head_) + " is the sum over the " +
                 std::to_string(plan_.heads / plan_.key_heads) + " query heads that read it.");
}

// The first row in which more than one key has weight, where the Jacobian says something.
std::int64_t HeadBack::row_by_hand() const {
  std::int64_t best = -1;
  int most = 0;
  for (std::int64_t i = 0; i < plan_.queries && most < 2; ++i) {
    int seen = 0;
    for (std::int64_t j = 0; j < plan_.keys; ++j) seen += element(weights_, i, j) > 0 ? 1 : 0;
    if (seen <= most) continue;
    most = seen;
    best = i;
  }
  return best;
}

std::string HeadBack::deltas() const {
  std::string text;
  for (std::int64_t i = 0; i < std::min(plan_.queries, kRowsByHand); ++i) {
    std::string sum;
    std::int64_t terms = 0;
    for (std::int64_t j = 0; j < plan_.keys; ++j) {
      if (is_excluded(i, j)) continue;
      if (terms > 0) sum += " + ";
      if (terms++ == kHandTerms) {
        sum += "...";
        break;
      }
      sum += in_brackets(number(element(weights_, i, j))) + '*' +
             in_brackets(number(element(grad_weights_, i, j)));
    }
    text += wrapped("row " + std::to_string(i) + ": " + (sum.empty() ? "no key is seen" : sum) +
                        " = " + number(element_as_double(delta_, i * delta_.strides()[0])),
                    {}, 4);
  }
  if (plan_.queries > kRowsByHand) {
    text += "  ... of " + grouped(plan_.queries) + " rows; --json and --out have them all\n";
  }
  return text;
}

// diag(p) - p p^T of one row, and what it makes of that row of dP.
std::string HeadBack::jacobian(std::int64_t row) const {
  const auto weight = [&](std::int64_t j) { return element(weights_, row, j); };
  const auto key = [](std::int64_t j) { return "key " + std::to_string(j); };
  std::string text = wrapped("Row " + std::to_string(row) +
                             ": how its weights (down) move with its scores (across), "
                             "diag(p) - p p^T");
  text += render(LabelledMatrix{
      .rows = plan_.keys,
      .columns = plan_.keys,
      .row_label = key,
      .column_label = key,
      .cell =
          [&](std::int64_t i, std::int64_t j) {
            if (is_excluded(row, i) || is_excluded(row, j)) return std::string(kExcludedMark);
            return number((i == j ? weight(i) : 0.0) - weight(i) * weight(j));
          },
  });
  text += '\n';
  std::int64_t lines = 0;
  const double delta = element_as_double(delta_, row * delta_.strides()[0]);
  for (std::int64_t j = 0; j < plan_.keys && lines < kHandTerms; ++j) {
    if (is_excluded(row, j)) continue;
    ++lines;
    text += wrapped("row " + std::to_string(row) + ", key " + std::to_string(j) + ": " +
                        in_brackets(number(weight(j))) + " * (" +
                        number(element(grad_weights_, row, j)) + " - " +
                        in_brackets(number(delta)) + ") = " + number(element(grad_scores_, row, j)),
                    {}, 4);
  }
  return text;
}

std::string HeadBack::query_by_hand(std::int64_t row, const View& sums) const {
  HandSum sum(digits_);
  const Tensor keys = met_.keys_for(row);
  for (std::int64_t j = 0; j < plan_.keys; ++j) {
    if (!is_excluded(row, j)) sum.add(element(grad_products_, row, j), keys.view(), j);
  }
  return wrapped("row " + std::to_string(row) + " by hand: " + sum.text() + " = " +
                     vector_text(sums, row, digits_),
                 {}, 4);
}

std::string HeadBack::key_by_hand(const char* name, const View& factors, const Rows& rows_for,
                                  const View& sums) const {
  for (std::int64_t j = 0; j < plan_.keys; ++j) {
    HandSum sum(digits_);
    const Tensor rows = rows_for(j);
    for (std::int64_t i = 0; i < plan_.queries; ++i) {
      if (!is_excluded(i, j)) sum.add(element(factors, i, j), rows.view(), i);
    }
    if (sum.text().empty()) continue;
    return '\n' + wrapped(name + (' ' + std::to_string(j)) + " by hand: " + sum.text() + " = " +
                              vector_text(sums, j, digits_),
                          {}, 4);
  }
  return "";
}

std::string HeadBack::sum_text() const {
  if (problem_.sinks) {
    return wrapped("What a row lacks to a sum of 0 went to the sink, as its weight did.");
  }
  return wrapped("Each row sums to 0: moving all of its scores alike changes no weight.");
}

// Where rows were turned, their gradients come first as of the turned ones.
std::string HeadBack::grad_queries(std::int64_t row) const {
  const auto by_hand = [&](const View& sums) {
    return row >= 0 ? '\n' + query_by_hand(row, sums) : std::string();
  };
  if (!turned_q_) return row_table(grad_q_, "query", digits_) + by_hand(grad_q_);
  return row_table(turned_q_.view(), "turned query", digits_) + by_hand(turned_q_.view()) +
         "\n  dQ: turned back by the same angles\n" + row_table(grad_q_, "query", digits_);
}

std::string HeadBack::grad_keys() const {
  const auto queries = [&](std::int64_t j) { return met_.queries_for(j); };
  const auto by_hand = [&](const View& sums) {
    return key_by_hand("key", grad_products_, queries, sums);
  };
  const std::string part = of_key_head("gradient");
  if (!met_.turns(MetSide::keys)) {
    return row_table(grad_k_, "key", digits_) + by_hand(grad_k_) + part;
  }
  return row_table(turned_k_.view(), "turned key", digits_) + by_hand(turned_k_.view()) +
         "\n  dK: turned back by the same angles\n" + row_table(grad_k_, "key", digits_) + part;
}

std::vector<StepSection> HeadBack::sections() const {
  std::vector<StepSection> result;
  const auto add = [&](const char* name, const std::string& title, std::string body) {
    result.push_back({name, title, std::move(body)});
  };
  add("grad_output", "Backward: G, what comes back to the output",
      row_table(back_, "query", digits_));
  add("grad_v", "dV = weights^T G: each value gathers what its readers got back",
      row_table(grad_v_, "value", digits_) +
          key_by_hand(
              "value", read_, [&](std::int64_t) { return copy_of(back_); }, grad_v_) +
          of_key_head("gradient"));
  add("grad_weights", "dP = G V^T: the gradient of the weights" + dropout_text(),
      dot_products() + table(grad_weights_));
  add("delta", "delta: the sum of weight * dP along each row, which is G . output", deltas());
  const std::int64_t row = row_by_hand();
  add("grad_scores", "dS = weight * (dP - delta): through the softmax",
      (row >= 0 ? jacobian(row) + '\n' : "") + table(grad_scores_) + sum_text());
  if (plan_.scale != 1 || problem_.softcap > 0) {
    const std::string cap = number(problem_.softcap);
    add("grad_products",
        "Gradient of the dot products: dS times " + number(plan_.scale) +
            (problem_.softcap > 0 ? " and the slope of the cap, 1 - tanh(score/" + cap + ")^2"
                                  : ""),
        table(grad_products_));
  }
  add("grad_q", "dQ = that times K", grad_queries(row));
  add("grad_k", "dK = its transpose times Q", grad_keys());
  return result;
}

}  // namespace

std::vector<StepSection> backward_sections(const AttendInputs& inputs, const AttendRun& run,
                                           std::int64_t batch, std::int64_t head, int digits) {
  return HeadBack(inputs, run, batch, head, digits).sections();
}

}  // namespace volvelle::cli
