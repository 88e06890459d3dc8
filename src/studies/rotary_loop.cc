#include "studies/rotary_loop.h"

#include <cmath>
#include <limits>

namespace volvelle {
namespace {

struct Sizes {
  std::int64_t batch, tokens, width, heads, head_width;
};

Sizes sizes_of(const RotaryLayer& layer, const Tensor& x) {
  return {x.shape()[0], x.shape()[1], layer.width, layer.heads, layer.width / layer.heads};
}

// (rows, C) times the transpose of (N, C).
std::vector<double> product(const std::vector<double>& rows, const float* weight, std::int64_t n,
                            std::int64_t c) {
  const std::int64_t count = static_cast<std::int64_t>(rows.size()) / c;
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(count * n));
  for (std::int64_t r = 0; r < count; ++r) {
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < c; ++k) {
        sum += rows[static_cast<std::size_t>(r * c + k)] * static_cast<double>(weight[i * c + k]);
      }
      result.push_back(sum);
    }
  }
  return result;
}

// Turns `width` numbers from `at` on, in pairs, by the position times a rate for each pair.
void turn(double* at, std::int64_t width, double position, double base, double exponent_width,
          bool neighbours) {
  for (std::int64_t i = 0; i < width / 2; ++i) {
    const double angle = position * std::pow(base, -2.0 * static_cast<double>(i) / exponent_width);
    double& a = at[neighbours ? 2 * i : i];
    double& b = at[neighbours ? 2 * i + 1 : i + width / 2];
    const double old = a;
    a = old * std::cos(angle) - b * std::sin(angle);
    b = old * std::sin(angle) + b * std::cos(angle);
  }
}

// A third of the projected tokens, (B,T,C), turned in place where it is to be.
std::vector<double> projected(const RotaryLayer& layer, const Tensor& x, int third,
                              RotaryFault fault, std::int64_t first) {
  const Sizes s = sizes_of(layer, x);
  const std::vector<double> tokens(x.data<float>(), x.data<float>() + x.size());
  std::vector<double> rows =
      product(tokens, layer.qkv.data<float>() + third * s.width * s.width, s.width, s.width);
  if (third == 2 && fault != RotaryFault::values_turned) return rows;
  for (std::int64_t row = 0; row < s.batch * s.tokens; ++row) {
    const auto position = static_cast<double>(first + row % s.tokens);
    double* at = rows.data() + row * s.width;
    if (fault == RotaryFault::turned_before_split) {
      turn(at, s.width, position, layer.base, static_cast<double>(s.width), false);
      continue;
    }
    const bool of_width = fault == RotaryFault::rates_of_width;
    for (std::int64_t h = 0; h < s.heads; ++h) {
      turn(at + h * s.head_width, s.head_width, position, layer.base,
           static_cast<double>(of_width ? s.width : s.head_width),
           fault == RotaryFault::pairing_swapped);
    }
  }
  return rows;
}

// Whether query i may see key j.
bool sees(RotaryFault fault, std::int64_t i, std::int64_t j) {
  if (fault == RotaryFault::no_mask) return true;
  if (fault == RotaryFault::diagonal_masked) return j < i;
  return j <= i;
}

// Weights of query i over the keys, by the scores.
std::vector<double> weights_of(std::vector<double> scores, std::int64_t i, RotaryFault fault) {
  const bool late = fault == RotaryFault::mask_after_softmax;
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (late || sees(fault, i, static_cast<std::int64_t>(j))) top = std::fmax(top, scores[j]);
  }
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const bool seen = sees(fault, i, static_cast<std::int64_t>(j));
    const double weight = late || seen ? std::exp(scores[j] - top) : 0;
    sum += weight;
    scores[j] = seen ? weight : 0;
  }
  for (double& weight : scores) weight = sum > 0 ? weight / sum : 0;
  return scores;
}

}  // namespace

std::vector<double> rotary_heads_loop(const RotaryLayer& layer, const Tensor& x, int third,
                                      RotaryFault fault, std::int64_t first) {
  const Sizes s = sizes_of(layer, x);
  const std::vector<double> rows = projected(layer, x, third, fault, first);
  std::vector<double> heads;
  heads.reserve(rows.size());
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t t = 0; t < s.tokens; ++t) {
        const auto begin = rows.begin() + (b * s.tokens + t) * s.width + h * s.head_width;
        heads.insert(heads.end(), begin, begin + s.head_width);
      }
    }
  }
  return heads;
}

std::vector<double> rotary_layer_loop(const RotaryLayer& layer, const Tensor& x, RotaryFault fault,
                                      std::int64_t first) {
  const Sizes s = sizes_of(layer, x);
  const std::vector<double> q = projected(layer, x, 0, fault, first);
  const std::vector<double> k = projected(layer, x, 1, fault, first);
  const std::vector<double> v = projected(layer, x, 2, fault, first);
  std::vector<double> blended(v.size());
  const auto row = [&](const std::vector<double>& of, std::int64_t b, std::int64_t t,
                       std::int64_t h) {
    return of.data() + (b * s.tokens + t) * s.width + h * s.head_width;
  };
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t i = 0; i < s.tokens; ++i) {
        std::vector<double> scores;
        for (std::int64_t j = 0; j < s.tokens; ++j) {
          double sum = 0;
          for (std::int64_t d = 0; d < s.head_width; ++d)
            sum += row(q, b, i, h)[d] * row(k, b, j, h)[d];
          scores.push_back(sum / std::sqrt(static_cast<double>(s.head_width)));
        }
        const std::vector<double> weights = weights_of(std::move(scores), i, fault);
        double* output = blended.data() + (b * s.tokens + i) * s.width + h * s.head_width;
        for (std::int64_t j = 0; j < s.tokens; ++j) {
          for (std::int64_t d = 0; d < s.head_width; ++d) {
            output[d] += weights[static_cast<std::size_t>(j)] * row(v, b, j, h)[d];
          }
        }
      }
    }
  }
  return product(blended, layer.out.data<float>(), s.width, s.width);
}

}  // namespace volvelle
