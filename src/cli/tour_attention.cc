#include <array>
#include <map>
#include <vector>

#include "cli/attend_steps.h"
#include "cli/path_agreement.h"
#include "cli/score_table.h"
#include "cli/tour_parts.h"
#include "cli/tour_text.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

// A small matrix on its way into a table.
using Rows = std::vector<std::vector<double>>;

std::string note(const std::string& text) { return '\n' + wrapped(text); }

Rows rows_of(const Tensor& array) {
  const int rank = array.rank();
  const std::int64_t rows = array.shape()[rank - 2];
  const std::int64_t columns = array.shape()[rank - 1];
  Rows result;
  for (std::int64_t i = 0; i < rows; ++i) {
    result.emplace_back();
    for (std::int64_t j = 0; j < columns; ++j) {
      result.back().push_back(element_as_double(array.view(), i * columns + j));
    }
  }
  return result;
}

Rows transposed(const Rows& from) {
  Rows result(from[0].size(), std::vector<double>(from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t j = 0; j < from[0].size(); ++j) result[j][i] = from[i][j];
  }
  return result;
}

Rows product(const Rows& a, const Rows& b) {
  Rows result(a.size(), std::vector<double>(b[0].size(), 0.0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < b[0].size(); ++j) result[i][j] += a[i][k] * b[k][j];
    }
  }
  return result;
}

class AttentionTour {
 public:
  explicit AttentionTour(const TourStyle& style)
      : style_(style),
        inputs_(embedded_example(DType::float32)),
        run_(run_attention(inputs_, {.threads = style.threads}, {.steps = true})) {}

  std::string text() const {
    return introduction() + '\n' + steps() + agreement() + causal() + pitfalls() + wider();
  }

 private:
  int digits() const { return style_.digits.value_or(4); }
  std::string number(double value) const { return rounded(value, digits()); }
  std::string tuple(const std::vector<double>& values) const {
    std::string text = "(";
    for (std::size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + number(values[i]);
    return text + ')';
  }
  std::string introduction() const;
  std::string steps() const;
  std::string agreement() const;
  std::string causal() const;
  std::string pitfalls() const;
  std::string saturation() const;
  std::string wider() const;
  std::vector<std::string> variant(const std::string& name, const Rows& weights) const;
  Rows weights_with_scale(double scale) const;

  TourStyle style_;
  AttendInputs inputs_;
  AttendRun run_;
};

std::string AttentionTour::introduction() const {
  return wrapped(
             "Two tokens, one head, width 2. Row i of each matrix belongs to token i. In a model "
             "the three come from the token vectors X by learned matrices, Q = X W_Q, K = X W_K "
             "and V = X W_V; here they are given, so that only the attention step moves:",
             {.indent = 0}) +
         "\n    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V\n";
}

std::string AttentionTour::steps() const {
  const Rows weights = rows_of(run_.steps->weights);
  const Rows unscaled = rows_of(run_.steps->weights_unscaled);
  const std::map<std::string, std::string> notes{
      {"scores", note("Query 0 fits key 0 and not key 1; query 1 fits both alike.")},
      {"exponentials", note("Taking the largest score off first changes no weight, and keeps every "
                            "exponential at 1 or below.")},
      {"weights",
       note("A row says how its token divides one unit of attention: token 0 reads " +
            number(weights[0][0]) + " of token 0 and " + number(weights[0][1]) +
            " of token 1. So rows sum to 1. Columns need not: they say how much a token is read.")},
      {"unscaled", note("Scaling softens: the first weight falls from " + number(unscaled[0][0]) +
                        " to " + number(weights[0][0]) + ".") +
                       saturation()},
      {"output", note("Each output row is a weighted mean of the rows of V. Other weights, another "
                      "blend: that is how every token gets an output of its own.")},
  };
  std::string text;
  int count = 0;
  for (const StepSection& section : step_sections(inputs_, run_, 0, 0, digits())) {
    if (count++ > 0) text += '\n';
    text += section_text(section, count);
    if (const auto found = notes.find(section.name); found != notes.end()) text += found->second;
  }
  return text;
}

// The example's width says little about scaling; width 64 does.
std::string AttentionTour::saturation() const {
  constexpr std::int64_t kWidth = 64;
  std::vector<float> query(kWidth, 1.0f);
  std::vector<float> keys(2 * kWidth, 1.0f);
  for (std::int64_t d = kWidth / 2; d < kWidth; ++d) keys[kWidth + d] = 0;
  const std::array<float, 4> identity{1, 0, 0, 1};
  const AttentionProblem scaled{.q = View(query.data(), Shape{1, kWidth}),
                                .k = View(keys.data(), Shape{2, kWidth}),
                                .v = View(identity.data(), Shape{2, 2})};
  AttentionProblem unscaled = scaled;
  unscaled.scale = 1.0;
  const AttentionOptions options{.threads = style_.threads};
  const auto weights = [&](const AttentionProblem& problem) {
    return tuple(rows_of(attend(problem, AttentionRequest{}, options).output)[0]);
  };
  return note(
      "Limit: with d_k = 2 the effect is small. Scores grow with the width. Measured at "
      "d_k = 64, on a query of ones and two keys that share 64 and 32 of them: weights " +
      weights(scaled) + " with scaling, " + weights(unscaled) +
      " without. Unscaled, the softmax is saturated: all but one key is lost.");
}

std::string AttentionTour::agreement() const {
  return '\n' + agreement_text(path_agreement(inputs_.problem, style_.threads), DType::float32);
}

std::string AttentionTour::causal() const {
  AttendInputs inputs = inputs_;
  inputs.problem.causal = true;
  const AttendRun run = run_attention(inputs, {.threads = style_.threads}, {.steps = true});
  const Rows weights = rows_of(run.steps->weights);
  const Rows output = rows_of(run.result.output);
  const bool unchanged =
      weights[1] == rows_of(run_.steps->weights)[1] && output[1] == rows_of(run_.result.output)[1];
  std::string text = tour_heading("The causal variant");
  text += wrapped(
      "No token may read a later one. Such a key is taken out before the softmax, so its "
      "weight is exactly 0, marked by a point:");
  text += "\n  Weights\n" + score_table(head_of(run.steps->weights.view(), 0, 0),
                                        head_of(run.steps->excluded.view(), 0, 0), digits());
  text += "\n  Output\n";
  text += row_table(run.result.output.view(), "query", digits());
  text += note("Token 0 sees only itself: its weights are " + tuple(weights[0]) +
               " and its output is V's row 0, " + tuple(output[0]) +
               ". Token 1 may see both, so its "
               "row is " +
               (unchanged ? "unchanged, bit for bit." : "CHANGED, which it must not be."));
  return text;
}

std::vector<std::string> AttentionTour::variant(const std::string& name,
                                                const Rows& weights) const {
  const Rows output = product(weights, rows_of(inputs_.owned[2]));
  return {name, tuple(weights[0]), tuple(output[0]), number(weights[0][0] + weights[0][1])};
}

Rows AttentionTour::weights_with_scale(double scale) const {
  AttentionProblem problem = inputs_.problem;
  problem.scale = scale;
  return rows_of(attention_steps(problem).weights);
}

std::string AttentionTour::pitfalls() const {
  AttentionProblem turned = inputs_.problem;  // rows of K Q^T are the columns of Q K^T
  std::swap(turned.q, turned.k);
  const Rows by_columns = transposed(rows_of(attention_steps(turned).weights));
  Table table{.titles = {"", "weights of row 0", "output of row 0", "row sum"}, .rows = {}};
  table.rows.push_back(variant("as it should be", rows_of(run_.steps->weights)));
  table.rows.push_back(variant("softmax over columns", by_columns));
  table.rows.push_back(variant("divided by d_k = 2", weights_with_scale(1.0 / 2)));
  table.rows.push_back(variant("divided by the 2 tokens", weights_with_scale(1.0 / 2)));
  table.rows.push_back(variant("not divided", weights_with_scale(1)));
  return tour_heading("Pitfalls, measured") + render(table) +
         note(
             "Limit: here the token count and d_k are both 2, so two of the mistakes coincide, and "
             "dividing by the square root of the token count would go unnoticed. Test with sizes "
             "that all differ. `volvelle attend --expect FILE` names such mistakes in another "
             "program's result.");
}

std::string AttentionTour::wider() const {
  const std::array<float, 6> wide{1, 2, 5, 3, 4, 6};
  AttentionProblem problem = inputs_.problem;
  problem.v = View(wide.data(), Shape{2, 3});
  const AttentionOptions options{.threads = style_.threads};
  const Tensor output = attend(problem, AttentionRequest{}, options).output;
  std::string text =
      note("Values may have a width of their own: with V = (1 2 5; 3 4 6) the output is " +
           to_string(output.shape()) + ", its row 0 " + tuple(rows_of(output)[0]) + ".");
  problem.v = View(wide.data(), Shape{3, 2});
  try {
    attend(problem, AttentionRequest{}, options);
  } catch (const InvalidArgument& error) {
    text += note(std::string("But each key needs its value. With three values for two keys: ") +
                 error.what());
  }
  return text + note("No random numbers are used: the figures are the same on every run.");
}

}  // namespace

std::string attention_tour(const TourStyle& style) { return AttentionTour(style).text(); }

}  // namespace volvelle::cli
