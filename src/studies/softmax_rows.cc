#include "studies/softmax_rows.h"

#include <algorithm>
#include <cmath>

namespace volvelle {
namespace {

struct RowFigures {
  double entropy, largest, gradient, query_gradient;
};

RowFigures row_figures(const double* scores, const ScoreRows& rows, double scale,
                       std::vector<double>& weights, std::vector<double>& mean) {
  const std::size_t count = static_cast<std::size_t>(rows.tokens);
  const std::size_t width = static_cast<std::size_t>(rows.width);
  const double top = *std::max_element(scores, scores + count) * scale;
  double sum = 0;
  for (std::size_t j = 0; j < count; ++j) sum += weights[j] = std::exp(scores[j] * scale - top);
  // Entropy from the scores: -sum w log w = log sum - sum w (s - top).
  double entropy = std::log(sum), squares = 0, cubes = 0, largest = 0;
  std::fill(mean.begin(), mean.end(), 0.0);
  for (std::size_t j = 0; j < count; ++j) {
    const double weight = weights[j] /= sum;
    entropy -= weight * (scores[j] * scale - top);
    squares += weight * weight;
    cubes += weight * weight * weight;
    largest = std::max(largest, weight);
    for (std::size_t d = 0; d < width; ++d) mean[d] += weight * rows.keys[j * width + d];
  }
  double reached = 0;
  for (std::size_t j = 0; j < count; ++j) {
    double apart = 0;
    for (std::size_t d = 0; d < width; ++d) {
      const double difference = rows.keys[j * width + d] - mean[d];
      apart += difference * difference;
    }
    reached += weights[j] * weights[j] * apart;
  }
  const double jacobian = squares - 2 * cubes + squares * squares;
  return {entropy, largest, std::sqrt(std::max(jacobian, 0.0)), scale * std::sqrt(reached)};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

SoftmaxFigures softmax_figures(const ScoreRows& rows, double scale) {
  std::vector<double> weights(static_cast<std::size_t>(rows.tokens));
  std::vector<double> mean(static_cast<std::size_t>(rows.width));
  std::vector<double> gradients, query_gradients;
  SoftmaxFigures figures;
  double sum = 0, squares = 0;
  for (const double score : rows.scores) {
    sum += score;
    squares += score * score;
  }
  const double count = static_cast<double>(rows.scores.size());
  figures.spread = scale * std::sqrt(std::max(squares / count - sum / count * (sum / count), 0.0));
  for (std::int64_t i = 0; i < rows.tokens; ++i) {
    const RowFigures row =
        row_figures(rows.scores.data() + i * rows.tokens, rows, scale, weights, mean);
    figures.entropy += row.entropy / static_cast<double>(rows.tokens);
    figures.largest += row.largest / static_cast<double>(rows.tokens);
    gradients.push_back(row.gradient);
    query_gradients.push_back(row.query_gradient);
  }
  figures.gradient = median(std::move(gradients));
  figures.query_gradient = median(std::move(query_gradients));
  return figures;
}

}  // namespace volvelle
