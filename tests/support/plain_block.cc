#include "support/plain_block.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/random_numbers.h"
#include "support/arrays.h"

namespace volvelle::testing {
namespace {

double activated(double x, Activation activation) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
    case Activation::gelu_tanh:
      return x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return x;
}

std::vector<double> rms(const std::vector<double>& x, const std::vector<double>& weight,
                        double epsilon) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double root = std::sqrt(squares / static_cast<double>(x.size()) + epsilon);
  std::vector<double> y;
  for (std::size_t c = 0; c < x.size(); ++c) y.push_back(x[c] / root * weight[c]);
  return y;
}

std::vector<double> centred(const std::vector<double>& x, const std::vector<double>& weight,
                            const std::vector<double>& bias, double epsilon) {
  const auto count = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / count;
  for (const double value : x) variance += (value - mean) * (value - mean) / count;
  std::vector<double> y;
  for (std::size_t c = 0; c < x.size(); ++c) {
    y.push_back((x[c] - mean) / std::sqrt(variance + epsilon) * weight[c] + bias[c]);
  }
  return y;
}

}  // namespace

PlainBlock::PlainBlock(const StackOptions& options, const Module& module, std::string prefix)
    : options_(options), prefix_(std::move(prefix)) {
  if (options_.key_heads == 0) options_.key_heads = options_.heads;
  if (options_.head_width == 0) options_.head_width = options_.width / options_.heads;
  for (const NamedParameter& parameter : module.parameters()) {
    parameters_[parameter.name] = values_of(parameter.variable.view());
  }
}

const std::vector<double>& PlainBlock::parameter(const std::string& name) const {
  const auto found = parameters_.find(prefix_ + name);
  if (found == parameters_.end()) throw std::out_of_range(prefix_ + name);
  return found->second;
}

// Rows [first, first + count) of a weight and, where there is one, of its bias.
Rows PlainBlock::linear(const Rows& x, const std::string& weight, const std::string& bias,
                        std::int64_t first, std::int64_t count) const {
  const std::vector<double>& w = parameter(weight);
  Rows y;
  for (const std::vector<double>& row : x) {
    std::vector<double> out;
    for (std::int64_t n = first; n < first + count; ++n) {
      double sum = has(bias) ? parameter(bias)[static_cast<std::size_t>(n)] : 0;
      for (std::size_t k = 0; k < row.size(); ++k) {
        sum += row[k] * w[static_cast<std::size_t>(n) * row.size() + k];
      }
      out.push_back(sum);
    }
    y.push_back(out);
  }
  return y;
}

Rows PlainBlock::attention(const Rows& x, const std::string& name) const {
  const std::int64_t heads = options_.heads, key_heads = options_.key_heads;
  const std::int64_t width = options_.head_width;
  const auto projected = [&](const char* own, std::int64_t first, std::int64_t count) {
    if (!options_.separate_projections) {
      return linear(x, name + ".in_proj_weight", name + ".in_proj_bias", first, count);
    }
    Rows y = linear(x, name + "." + own + "_proj_weight", "", 0, count);
    if (!has(name + ".in_proj_bias")) return y;
    for (std::vector<double>& row : y) {
      for (std::int64_t n = 0; n < count; ++n) {
        row[static_cast<std::size_t>(n)] +=
            parameter(name + ".in_proj_bias")[static_cast<std::size_t>(first + n)];
      }
    }
    return y;
  };
  const Rows q = projected("q", 0, heads * width);
  const Rows k = projected("k", heads * width, key_heads * width);
  const Rows v = projected("v", (heads + key_heads) * width, key_heads * width);
  const auto head = [&](const Rows& tokens, std::size_t token, std::int64_t h, const char* norm) {
    std::vector<double> own;
    for (std::int64_t d = 0; d < width; ++d) {
      own.push_back(tokens[token][static_cast<std::size_t>(h * width + d)]);
    }
    if (norm[0] == '\0' || !options_.query_key_norm) return own;
    return rms(own, parameter(name + "." + norm + ".weight"),
               options_.epsilon == 0 ? 1e-6 : options_.epsilon);
  };
  Rows read(x.size());
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::int64_t g = h / (heads / key_heads);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::vector<double> query = head(q, i, h, "q_norm");
      std::vector<double> weights;
      double total = 0;
      for (std::size_t j = 0; j < (options_.causal ? i + 1 : x.size()); ++j) {
        const std::vector<double> key = head(k, j, g, "k_norm");
        double score = 0;
        for (std::size_t d = 0; d < key.size(); ++d) score += query[d] * key[d];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
        total += weights.back();
      }
      std::vector<double> sum(static_cast<std::size_t>(width), 0.0);
      for (std::size_t j = 0; j < weights.size(); ++j) {
        const std::vector<double> value = head(v, j, g, "");
        for (std::size_t d = 0; d < value.size(); ++d) sum[d] += weights[j] / total * value[d];
      }
      for (const double value : sum) read[i].push_back(value);
    }
  }
  return linear(read, name + ".out_proj.weight", name + ".out_proj.bias", 0, options_.width);
}

Rows PlainBlock::feed_forward(const Rows& x) const {
  Rows hidden = linear(x, "linear1.weight", "linear1.bias", 0, options_.feed_forward);
  const Rows gate =
      options_.gated ? linear(x, "gate.weight", "gate.bias", 0, options_.feed_forward) : hidden;
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    for (std::size_t f = 0; f < hidden[i].size(); ++f) {
      const double act = activated(gate[i][f], options_.activation);
      hidden[i][f] = options_.gated ? act * hidden[i][f] : act;
    }
  }
  return linear(hidden, "linear2.weight", "linear2.bias", 0, options_.width);
}

Rows PlainBlock::named_norm(const std::string& name, const Rows& x) const {
  const bool has_bias = has(name + ".bias");
  const double epsilon = options_.epsilon != 0 ? options_.epsilon : has_bias ? 1e-5 : 1e-6;
  Rows y;
  for (const std::vector<double>& row : x) {
    y.push_back(has_bias
                    ? centred(row, parameter(name + ".weight"), parameter(name + ".bias"), epsilon)
                    : rms(row, parameter(name + ".weight"), epsilon));
  }
  return y;
}

Rows PlainBlock::norm(int number, const Rows& x) const {
  return named_norm("norm" + std::to_string(number), x);
}

Rows mixed(double a, const Rows& x, double b, const Rows& y) {
  Rows sum = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t c = 0; c < x[i].size(); ++c) sum[i][c] = a * x[i][c] + b * y[i][c];
  }
  return sum;
}

void fill_parameters(const Module& module, std::uint64_t seed) {
  RandomNumbers random(seed);
  for (NamedParameter& parameter : module.parameters()) {
    Variable& variable = parameter.variable;
    const double middle = variable.rank() == 1 && parameter.name.ends_with("weight") ? 1.0 : 0.0;
    const MutableView view = variable.change();
    for (std::int64_t i = 0; i < variable.size(); ++i) {
      set_element(view.data(), view.dtype(), i, middle + random.unit() / 2);
    }
  }
}

}  // namespace volvelle::testing
