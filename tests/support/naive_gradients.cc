#include "support/naive_gradients.h"

#include <cmath>

namespace volvelle {
namespace {

// One row of one head: everything that its gradients are made of.
struct NaiveRow {
  std::vector<double> weight, grad_weight, cap_slope;
  double delta = 0, sink_weight = 0;
};

class NaiveHead {
 public:
  NaiveHead(const NaiveAttention& attention, const std::vector<float>& grad_output,
            const NaiveMistakes& mistakes, std::int64_t b, std::int64_t h)
      : a_(attention), g_(grad_output), mistakes_(mistakes), b_(b), h_(h) {}

  double q(std::int64_t i, std::int64_t d) const {
    return number(a_.q, ((b_ * a_.heads + h_) * a_.queries + i) * a_.width + d);
  }
  double k(std::int64_t j, std::int64_t d) const {
    return number(a_.k, ((b_ * a_.key_heads + a_.key_head(h_)) * a_.keys + j) * a_.width + d);
  }
  double v(std::int64_t j, std::int64_t e) const {
    return number(a_.v, ((b_ * a_.key_heads + a_.key_head(h_)) * a_.keys + j) * a_.value_width + e);
  }
  double g(std::int64_t i, std::int64_t e) const {
    return number(g_, ((b_ * a_.heads + h_) * a_.queries + i) * a_.value_width + e);
  }

  NaiveRow row(std::int64_t i) const {
    NaiveRow row;
    const bool sink = !a_.sinks.empty() && mistakes_.sink;
    double sum = sink ? std::exp(a_.sinks[static_cast<std::size_t>(h_)]) : 0;
    row.sink_weight = sum;
    for (std::int64_t j = 0; j < a_.keys; ++j) {
      double score = 0;
      for (std::int64_t d = 0; d < a_.width; ++d) score += q(i, d) * k(j, d);
      score *= a_.scale;
      double slope = 1;
      if (a_.cap > 0) {
        const double tanh = std::tanh(score / a_.cap);
        score = a_.cap * tanh;
        if (mistakes_.cap_slope) slope = 1 - tanh * tanh;
      }
      score += a_.bias(b_, h_, i, j);
      row.cap_slope.push_back(slope);
      row.weight.push_back(a_.seen(b_, h_, i, j) ? std::exp(score) : 0);
      sum += row.weight.back();
      double grad = 0;
      for (std::int64_t e = 0; e < a_.value_width; ++e) grad += g(i, e) * v(j, e);
      row.grad_weight.push_back(grad);
    }
    if (sum == 0) return row;
    row.sink_weight /= sum;
    for (std::size_t j = 0; j < row.weight.size(); ++j) {
      row.weight[j] /= sum;
      row.delta += row.weight[j] * row.grad_weight[j];
    }
    return row;
  }

 private:
  static double number(const std::vector<float>& numbers, std::int64_t at) {
    return static_cast<double>(numbers[static_cast<std::size_t>(at)]);
  }

  const NaiveAttention& a_;
  const std::vector<float>& g_;
  const NaiveMistakes& mistakes_;
  std::int64_t b_, h_;
};

}  // namespace

NaiveGradients naive_gradients(const NaiveAttention& a, const std::vector<float>& grad_output,
                               const NaiveMistakes& mistakes) {
  NaiveGradients made;
  const auto zeros = [](std::int64_t count) {
    return std::vector<double>(static_cast<std::size_t>(count), 0.0);
  };
  const std::int64_t planes = a.batch * a.heads;
  made.q = zeros(planes * a.queries * a.width);
  made.k_by_head = zeros(planes * a.keys * a.width);
  made.v_by_head = zeros(planes * a.keys * a.value_width);
  made.scores = zeros(planes * a.queries * a.keys);
  made.sinks = zeros(a.heads);
  const auto at = [](std::vector<double>& values, std::int64_t place) -> double& {
    return values[static_cast<std::size_t>(place)];
  };
  const double scale = mistakes.scale ? a.scale : 1;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const std::int64_t h = plane % a.heads;
    const NaiveHead head(a, grad_output, mistakes, plane / a.heads, h);
    for (std::int64_t i = 0; i < a.queries; ++i) {
      const NaiveRow row = head.row(i);
      at(made.sinks, h) -= row.sink_weight * row.delta;
      for (std::int64_t j = 0; j < a.keys; ++j) {
        const auto n = static_cast<std::size_t>(j);
        const double score =
            row.weight[n] * (row.grad_weight[n] - (mistakes.delta ? row.delta : 0));
        at(made.scores, (plane * a.queries + i) * a.keys + j) = score;
        for (std::int64_t d = 0; d < a.width; ++d) {
          const double product = score * row.cap_slope[n] * scale;
          at(made.q, (plane * a.queries + i) * a.width + d) += product * head.k(j, d);
          at(made.k_by_head, (plane * a.keys + j) * a.width + d) += product * head.q(i, d);
        }
        for (std::int64_t e = 0; e < a.value_width; ++e) {
          at(made.v_by_head, (plane * a.keys + j) * a.value_width + e) +=
              row.weight[n] * head.g(i, e);
        }
      }
    }
  }
  return made;
}

std::vector<float> summed_over_groups(const NaiveAttention& a, const std::vector<double>& by_head) {
  const auto planes = static_cast<std::size_t>(a.batch * a.heads);
  const std::size_t size = by_head.size() / planes;
  std::vector<double> sums(static_cast<std::size_t>(a.batch * a.key_heads) * size, 0.0);
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const auto b = static_cast<std::int64_t>(plane) / a.heads;
    const auto g = a.key_head(static_cast<std::int64_t>(plane) % a.heads);
    const auto to = static_cast<std::size_t>(b * a.key_heads + g) * size;
    for (std::size_t n = 0; n < size; ++n) sums[to + n] += by_head[plane * size + n];
  }
  return as_floats(sums);
}

std::vector<float> as_floats(const std::vector<double>& values) {
  std::vector<float> result;
  for (const double value : values) result.push_back(static_cast<float>(value));
  return result;
}

}  // namespace volvelle
