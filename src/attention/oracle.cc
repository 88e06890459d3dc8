#include "attention/oracle.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "attention/dropout.h"
#include "attention/oracle_terms.h"
#include "attention/oracle_turns.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A row's scores and, in their place later, its weights. Excluded keys are marked, not valued.
struct Row {
  explicit Row(std::int64_t keys)
      : seen(static_cast<std::size_t>(keys)), values(static_cast<std::size_t>(keys)) {}
  std::vector<char> seen;
  std::vector<double> values;
  double lse = -kInfinity;
  double entropy = 0;
  bool empty = true;
};

class Head {
 public:
  Head(const ResolvedAttention& problem, std::int64_t b, std::int64_t h, AttentionFault fault)
      : r_(problem), b_(b), h_(h), fault_(fault), stream_(dropout_stream(problem, b, h)) {
    if (r_.sinks.present && fault != AttentionFault::sink_dropped) {
      sink_ = r_.sinks.value(h, 0);
      has_sink_ = true;
    }
  }

  void scores(std::int64_t i, Row& row) const {
    const bool all = fault_ == AttentionFault::mask_after_softmax;
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      const auto at = static_cast<std::size_t>(j);
      row.seen[at] = all || sees(r_, {b_, h_, i, j}, fault_);
      row.values[at] = row.seen[at] ? score(r_, {b_, h_, i, j}, fault_) : -kInfinity;
    }
  }

  // softmax over the keys that are seen and the sink.
  void softmax(Row& row) const {
    row.empty = true;
    double largest = has_sink_ ? sink_ : -kInfinity;
    for (std::size_t j = 0; j < row.values.size(); ++j) {
      if (!row.seen[j]) continue;
      if (row.values[j] != -kInfinity) row.empty = false;  // NaN is no reason to call it empty
      if (!(row.values[j] <= largest)) largest = row.values[j];
    }
    if (row.empty) {
      row.lse = has_sink_ ? sink_ : -kInfinity;
      row.entropy = 0;
      for (double& value : row.values) value = 0;
      return;
    }
    double sum = has_sink_ ? std::exp(sink_ - largest) : 0.0;
    for (std::size_t j = 0; j < row.values.size(); ++j) {
      row.values[j] = row.seen[j] ? std::exp(row.values[j] - largest) : 0.0;
      sum += row.values[j];
    }
    row.lse = largest + std::log(sum);
    row.entropy = has_sink_ ? share_of_entropy(std::exp(sink_ - largest) / sum) : 0.0;
    for (double& value : row.values) {
      value /= sum;
      row.entropy += share_of_entropy(value);
    }
  }

  void drop_excluded(std::int64_t i, Row& row) const {
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (sees(r_, {b_, h_, i, j}, fault_)) continue;
      row.seen[at] = false;
      row.values[at] = 0;
    }
  }

  // weights * v, after dropout; what is not seen is never multiplied in.
  void weigh(std::int64_t i, const Row& row, double* output) const {
    const std::int64_t g = key_head_of(r_, h_, fault_);
    for (std::int64_t e = 0; e < r_.value_width; ++e) output[e] = 0;
    if (row.empty) return;
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (!row.seen[at]) continue;
      const std::int64_t first = r_.v.offset(b_, g, j, 0);
      const double weight =
          r_.dropout > 0 ? row.values[at] * dropout_factor(stream_, i, j) : row.values[at];
      for (std::int64_t e = 0; e < r_.value_width; ++e) {
        output[e] += weight * element(r_.v, first + e * r_.v.stride[3]);
      }
      if (!r_.relative_values.present()) continue;
      for (std::int64_t e = 0; e < r_.value_width; ++e) {
        output[e] += weight * relative_element(r_, r_.relative_values, {b_, h_, i, j}, e, fault_);
      }
    }
  }

  void weights(std::int64_t i, Row& row) const {
    scores(i, row);
    softmax(row);
    if (fault_ == AttentionFault::mask_after_softmax) drop_excluded(i, row);
  }

 private:
  static double share_of_entropy(double weight) {
    return weight == 0 ? 0.0 : -weight * std::log(weight);
  }

  const ResolvedAttention& r_;
  std::int64_t b_, h_;
  AttentionFault fault_;
  kernels::DropoutStream stream_;
  double sink_ = 0;
  bool has_sink_ = false;
};

// The fault of normalising down each key's column. Rows keep their own log-sum-exp.
void weigh_by_columns(const ResolvedAttention& r, const Head& head, std::vector<Row>& rows) {
  for (std::int64_t i = 0; i < r.queries; ++i) {
    Row& row = rows[static_cast<std::size_t>(i)];
    head.scores(i, row);
    Row own = row;
    head.softmax(own);
    row.lse = own.lse;
    row.entropy = own.entropy;
    row.empty = own.empty;
  }
  for (std::size_t j = 0; j < static_cast<std::size_t>(r.keys); ++j) {
    double largest = -kInfinity;
    double sum = 0;
    for (const Row& row : rows) {
      if (!(row.values[j] <= largest)) largest = row.values[j];
    }
    if (largest == -kInfinity) largest = 0;
    for (const Row& row : rows) sum += std::exp(row.values[j] - largest);
    for (Row& row : rows) row.values[j] = sum == 0 ? 0 : std::exp(row.values[j] - largest) / sum;
  }
}

class Results {
 public:
  Results(const ResolvedAttention& problem, const ResolvedOutputs& outputs, std::int64_t b,
          std::int64_t h)
      : r_(problem), outputs_(outputs), b_(b), h_(h) {
    if (outputs.column_sums.present) column_sums_.resize(static_cast<std::size_t>(problem.keys));
  }

  void take(std::int64_t i, const Row& row, const std::vector<double>& output) {
    if (outputs_.output.present) {
      const std::int64_t first = outputs_.output.offset(b_, h_, i, 0);
      for (std::int64_t e = 0; e < r_.value_width; ++e) {
        store_rounded(outputs_.output, first + e * outputs_.output.stride[3],
                      output[static_cast<std::size_t>(e)]);
      }
    }
    if (outputs_.lse.present)
      store_rounded(outputs_.lse, outputs_.lse.offset(b_, h_, i, 0), row.lse);
    if (outputs_.entropy.present) {
      store_rounded(outputs_.entropy, outputs_.entropy.offset(b_, h_, i, 0), row.entropy);
    }
    for (std::size_t j = 0; j < column_sums_.size(); ++j) column_sums_[j] += row.values[j];
  }

  void finish() {
    for (std::size_t j = 0; j < column_sums_.size(); ++j) {
      const auto at = static_cast<std::int64_t>(j);
      store_rounded(outputs_.column_sums, outputs_.column_sums.offset(b_, h_, at, 0),
                    column_sums_[j]);
    }
  }

 private:
  const ResolvedAttention& r_;
  const ResolvedOutputs& outputs_;
  std::int64_t b_, h_;
  std::vector<double> column_sums_;
};

}  // namespace

void attend_oracle(const ResolvedAttention& given, const ResolvedOutputs& outputs,
                   AttentionFault fault) {
  OracleTurns turns(given, fault);
  const ResolvedAttention& problem = turns.problem();
  const bool columns = fault == AttentionFault::softmax_over_columns;
  std::vector<double> output(static_cast<std::size_t>(problem.value_width));
  std::vector<Row> rows(columns ? static_cast<std::size_t>(problem.queries) : 1, Row(problem.keys));
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t h = 0; h < problem.heads; ++h) {
      turns.select(b, h);
      const Head head(problem, b, h, fault);
      Results results(problem, outputs, b, h);
      if (columns) weigh_by_columns(problem, head, rows);
      for (std::int64_t i = 0; i < problem.queries; ++i) {
        Row& row = rows[columns ? static_cast<std::size_t>(i) : 0];
        if (!columns) head.weights(i, row);
        head.weigh(i, row, output.data());
        results.take(i, row, output);
      }
      results.finish();
    }
  }
}

void attend_oracle_rows(const ResolvedAttention& given, std::span<const QueryRow> rows,
                        double* output, double* lse, double* entropy) {
  OracleTurns turns(given);
  const ResolvedAttention& problem = turns.problem();
  Row row(problem.keys);
  for (const QueryRow& at : rows) {
    turns.select_query(at.batch, at.head, at.query);
    const Head head(problem, at.batch, at.head, AttentionFault::none);
    head.weights(at.query, row);
    if (output != nullptr) {
      head.weigh(at.query, row, output);
      output += problem.value_width;
    }
    if (lse != nullptr) *lse++ = row.lse;
    if (entropy != nullptr) *entropy++ = row.entropy;
  }
}

}  // namespace volvelle
