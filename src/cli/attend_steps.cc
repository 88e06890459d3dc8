#include "cli/attend_steps.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/attend_backward_steps.h"
#include "cli/hand_text.h"
#include "cli/met_rows.h"
#include "cli/position_steps.h"
#include "cli/score_table.h"
#include "cli/view_axes.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kHeadsShown = 8;  // of a problem with many; --json and --out have them all

/// One head of one batch row, ready to be written down.
class HeadText {
 public:
  HeadText(const AttendInputs& inputs, const AttendRun& run, std::int64_t batch, std::int64_t head,
           int digits)
      : plan_(run.plan),
        problem_(inputs.problem),
        steps_(*run.steps),
        head_(head),
        digits_(digits),
        met_(problem_, plan_, batch, head),
        q_(head_of(with_rank(problem_.q, 4), batch, head)),
        k_(head_of(with_rank(problem_.k, 4), batch, head / (plan_.heads / plan_.key_heads))),
        v_(head_of(with_rank(problem_.v, 4), batch, head / (plan_.heads / plan_.key_heads))),
        output_(head_of(run.output_bhte, batch, head)),
        batch_(batch) {}

  std::vector<StepSection> sections() const;

 private:
  View step(const Tensor& tensor) const { return head_of(tensor.view(), batch_, head_); }
  std::string table(const Tensor& tensor) const { return score_table(step(tensor), {}, digits_); }
  std::string table_of_seen(const Tensor& tensor) const {
    return score_table(step(tensor), steps_.excluded ? step(steps_.excluded) : View(), digits_);
  }
  std::string number(double value) const { return rounded(value, digits_); }
  bool is_excluded(std::int64_t i, std::int64_t j) const {
    return steps_.excluded && element(step(steps_.excluded), i, j) != 0;
  }
  double sink() const {
    return element_as_double(problem_.sinks, head_ * problem_.sinks.strides()[0]);
  }
  std::string row_name(const char* what, std::int64_t i) const {
    return std::string(what) + ' ' + std::to_string(i);
  }
  std::string dot_products() const;
  std::string fraction(std::int64_t row) const;
  std::string weight_table() const;
  std::string sum_text() const;
  std::string hand_row(std::int64_t row) const;
  bool sees_a_key(std::int64_t row) const;
  std::int64_t first_row_with_keys() const;
  const Tensor& final_scores() const {
    return steps_.biased ? steps_.biased : steps_.capped ? steps_.capped : steps_.scaled;
  }
  const Tensor& read_weights() const { return steps_.dropped ? steps_.dropped : steps_.weights; }
  std::string scale_text() const;
  std::string relative_title() const;

  const AttentionPlan& plan_;
  const AttentionProblem& problem_;
  const AttentionSteps& steps_;
  std::int64_t head_;
  int digits_;
  MetRows met_;
  View q_, k_, v_, output_;
  std::int64_t batch_;
};

std::string HeadText::dot_products() const {
  const Tensor plain = met_.has_relative_scores() ? plain_products(met_) : Tensor();
  const View products = plain ? plain.view() : step(steps_.scores);
  return dot_lines(
             {.a_name = "q", .a = met_.q(), .b_name = "k", .b = met_.k(), .products = products},
             digits_) +
         '\n' + score_table(products, {}, digits_);
}

// A row whose every score is -inf counts as one that sees no key.
bool HeadText::sees_a_key(std::int64_t row) const {
  for (std::int64_t j = 0; j < plan_.keys; ++j) {
    if (!is_excluded(row, j) && element(step(final_scores()), row, j) != -INFINITY) return true;
  }
  return false;
}

std::int64_t HeadText::first_row_with_keys() const {
  for (std::int64_t i = 0; i < plan_.queries; ++i) {
    if (sees_a_key(i)) return i;
  }
  return -1;
}

// e^0.7071 / (e^0.7071 + e^0) for every key of a row.
std::string HeadText::fraction(std::int64_t row) const {
  const View scores = step(final_scores());
  std::vector<std::int64_t> seen;
  for (std::int64_t j = 0; j < plan_.keys; ++j) {
    if (!is_excluded(row, j)) seen.push_back(j);
  }
  const auto power = [&](double exponent) { return "e^" + in_brackets(number(exponent)); };
  std::string sum;
  for (std::size_t n = 0; n < seen.size(); ++n) {
    if (n == static_cast<std::size_t>(kHandTerms)) {
      sum += " + ...";
      break;
    }
    sum += (n > 0 ? " + " : "") + power(element(scores, row, seen[n]));
  }
  if (problem_.sinks) sum += " + " + power(sink());
  std::string text;
  const std::size_t shown = plan_.keys <= 4 ? seen.size() : 1;
  for (std::size_t n = 0; n < std::min(shown, seen.size()); ++n) {
    const std::string label =
        "row " + std::to_string(row) + ", key " + std::to_string(seen[n]) + ": ";
    const bool single = seen.size() == 1 && !problem_.sinks;
    text += wrapped(label + power(element(scores, row, seen[n])) + " / " +
                        (single ? sum : '(' + sum + ')') + " = " +
                        number(element(step(steps_.weights), row, seen[n])),
                    {}, 4);
  }
  return text;
}

std::string HeadText::weight_table() const {
  const View weights = step(steps_.weights);
  const View row_sums = picked(picked(steps_.row_sums.view(), 0, batch_), 0, head_);
  const View column_sums = picked(picked(steps_.column_sums.view(), 0, batch_), 0, head_);
  const std::int64_t rows = plan_.queries;
  const std::int64_t columns = plan_.keys;
  return render(LabelledMatrix{
      .rows = rows + 1,
      .columns = columns + 1,
      .row_label =
          [&](std::int64_t i) {
            return i < rows ? row_name("query", i) : std::string("column sum");
          },
      .column_label =
          [&](std::int64_t j) { return j < columns ? row_name("key", j) : std::string("row sum"); },
      .cell = [&](std::int64_t i, std::int64_t j) -> std::string {
        if (i == rows && j == columns) return "";
        if (i == rows) return number(element_as_double(column_sums, j));
        if (j == columns) return number(element_as_double(row_sums, i));
        return is_excluded(i, j) ? kExcludedMark : number(element(weights, i, j));
      },
  });
}

std::string HeadText::hand_row(std::int64_t row) const {
  HandSum sum(digits_);
  const Tensor values = met_.values_for(row);
  for (std::int64_t j = 0; j < plan_.keys; ++j) {
    if (!is_excluded(row, j)) sum.add(element(step(read_weights()), row, j), values.view(), j);
  }
  return wrapped("row " + std::to_string(row) + " by hand: " + sum.text() + " = " +
                     vector_text(output_, row, digits_),
                 {}, 4);
}

std::string HeadText::scale_text() const {
  const std::string value = number(plan_.scale);
  if (problem_.scale) return value;
  return "1/sqrt(D) = 1/sqrt(" + std::to_string(plan_.head_width) + ") = " + value;
}

std::string HeadText::relative_title() const {
  const char* const keys = "the query with the vector of their offset";
  const char* const queries = "the key with the query's vector of their offset";
  std::string text = "Relative: ";
  if (problem_.relative_keys) text += keys;
  if (problem_.relative_keys && problem_.relative_queries) text += ", and ";
  if (problem_.relative_queries) text += queries;
  return text;
}

std::vector<StepSection> HeadText::sections() const {
  std::vector<StepSection> result;
  const auto add = [&](const char* name, const std::string& title, std::string body) {
    result.push_back({name, title, std::move(body)});
  };
  add("inputs", "Queries, keys and values",
      beside({"  Q: what each token looks for\n" + row_table(q_, "query", digits_),
              "  K: what it offers\n" + row_table(k_, "key", digits_),
              "  V: what it passes on\n" + row_table(v_, "value", digits_)},
             {}, 2));
  if (problem_.rotary) {
    add("turn", "Turned: queries and keys by the angles of their positions",
        turn_text(problem_, plan_, met_, q_, k_, digits_));
  }
  add("scores", "Scores: the dot product of each query with each key", dot_products());
  if (met_.has_relative_scores()) {
    add("relative", relative_title(), relative_text(problem_, plan_, met_, digits_));
    add("together", "Scores: both together", table(steps_.scores));
  }
  add("scaled", "Scaled: times " + scale_text(), table(steps_.scaled));
  if (steps_.capped) {
    const std::string cap = number(problem_.softcap);
    add("capped", "Capped: " + cap + " tanh(score / " + cap + ")", table(steps_.capped));
  }
  if (steps_.biased) {
    add("biased", "Biased: with what bias, slopes and tables add", table(steps_.biased));
  }
  if (steps_.excluded) {
    add("excluded", "Excluded: a point marks a key that its query may not see",
        table_of_seen(final_scores()));
  }
  add("exponentials", "Exponentials: e^(score - largest score of the row)",
      table_of_seen(steps_.exponentials));
  const std::int64_t row = first_row_with_keys();
  add("weights", "Weights: each row divided by its sum, the softmax over the keys",
      (row >= 0 ? fraction(row) + '\n' : "") + weight_table() + sum_text());
  if (steps_.dropped) {
    add("dropped",
        "Dropped: each weight is 0 with probability " + number(problem_.dropout) +
            ", the others are divided by " + number(1 - problem_.dropout),
        table_of_seen(steps_.dropped));
  }
  if (plan_.scale != 1) {
    add("unscaled", "For comparison: the weights without the scaling",
        table_of_seen(steps_.weights_unscaled));
  }
  add("output",
      problem_.relative_values ? "Output: weights times V, each value with the vector of its offset"
                               : "Output: weights times V",
      row_table(output_, "query", digits_) + (row >= 0 ? '\n' + hand_row(row) : ""));
  return result;
}

// Why a row may sum to less than 1.
std::string HeadText::sum_text() const {
  std::string text;
  if (problem_.sinks) {
    text = wrapped("What a row lacks to 1 went to the sink, a logit of " + number(sink()) +
                   " that has no value.");
  }
  std::string empty;
  for (std::int64_t i = 0; i < plan_.queries; ++i) {
    if (!sees_a_key(i)) empty += (empty.empty() ? "" : ", ") + std::to_string(i);
  }
  if (empty.empty()) return text;
  return text + wrapped("No key is seen by query " + empty + ": weights and output are 0.");
}

}  // namespace

bool is_small(const AttentionPlan& plan) {
  return plan.queries <= 16 && plan.keys <= 16 && plan.queries * plan.keys <= 64 &&
         plan.batch * plan.heads <= 4 && plan.head_width <= 16 && plan.value_width <= 16;
}

std::vector<StepSection> step_sections(const AttendInputs& inputs, const AttendRun& run,
                                       std::int64_t batch, std::int64_t head, int digits) {
  return HeadText(inputs, run, batch, head, digits).sections();
}

std::string section_text(const StepSection& section, int number) {
  return wrapped(std::to_string(number) + ". " + section.title, {.indent = 0}, 3) + section.body;
}

std::string steps_text(const AttendInputs& inputs, const AttendRun& run, int digits) {
  const AttentionPlan& plan = run.plan;
  std::string text;
  std::int64_t shown = 0;
  for (std::int64_t b = 0; b < plan.batch; ++b) {
    for (std::int64_t h = 0; h < plan.heads; ++h) {
      if (shown++ == kHeadsShown) {
        text += "\n... " + grouped(plan.batch * plan.heads - kHeadsShown) +
                " more heads; --json and --out have them all\n";
        return text;
      }
      if (plan.batch * plan.heads > 1) {
        std::string title = "Head " + std::to_string(h);
        if (plan.key_heads != plan.heads) {
          title += " (reads key head " + std::to_string(h / (plan.heads / plan.key_heads)) + ")";
        }
        if (plan.batch > 1) title += " of batch row " + std::to_string(b);
        text += (shown > 1 ? "\n" : "") + title + '\n' + std::string(title.size(), '-') + "\n\n";
      }
      int count = 0;
      std::vector<StepSection> sections = step_sections(inputs, run, b, h, digits);
      if (run.backward) {
        for (StepSection& section : backward_sections(inputs, run, b, h, digits)) {
          sections.push_back(std::move(section));
        }
      }
      for (const StepSection& section : sections) {
        if (count++ > 0) text += '\n';
        text += section_text(section, count);
      }
    }
  }
  return text;
}

}  // namespace volvelle::cli
