#include "check/properties/twins.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/oracle_terms.h"
#include "attention/resolved.h"
#include "check/properties/score_matrix.h"
#include "volvelle/base/half.h"

namespace volvelle::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double excluded_is_minus_infinity(double score, bool seen) { return seen ? score : -kInfinity; }

AttentionResult room_for(const ResolvedAttention& r, const AttentionRequest& request) {
  AttentionResult result;
  result.output = Tensor(r.dtype, {r.batch, r.heads, r.queries, r.value_width});
  const DType statistic = r.dtype == DType::float64 ? DType::float64 : DType::float32;
  if (request.lse) result.lse = Tensor(statistic, {r.batch, r.heads, r.queries});
  if (request.entropy) result.entropy = Tensor(statistic, {r.batch, r.heads, r.queries});
  if (request.column_sums) result.column_sums = Tensor(statistic, {r.batch, r.heads, r.keys});
  return result;
}

// sum += part, each weighted by the exponential of its log-sum-exp.
void merge(AttentionResult& sum, const AttentionResult& part) {
  float* total = sum.lse.data<float>();
  float* output = sum.output.data<float>();
  const std::int64_t width = sum.output.shape()[3];
  for (std::int64_t row = 0; row < sum.lse.size(); ++row) {
    const float other = part.lse.data<float>()[row];
    const float largest = std::max(total[row], other);
    if (std::isinf(largest)) continue;
    const float ours = std::exp(total[row] - largest);
    const float theirs = std::exp(other - largest);
    for (std::int64_t e = row * width; e < (row + 1) * width; ++e) {
      output[e] = (output[e] * ours + part.output.data<float>()[e] * theirs) / (ours + theirs);
    }
    total[row] = largest + std::log(ours + theirs);
  }
}

AttentionResult in_parts(const AttentionOperation& sound, const AttentionProblem& problem,
                         const AttentionOptions& options) {
  const std::int64_t keys = problem.k.shape()[2];
  const std::int64_t parts = std::clamp<std::int64_t>(options.threads, 1, keys);
  AttentionResult sum;
  for (std::int64_t n = 0; n < parts; ++n) {
    const std::int64_t first = keys * n / parts;
    const std::int64_t count = keys * (n + 1) / parts - first;
    AttentionProblem part = problem;
    part.k = slice(problem.k, 2, first, count);
    part.v = slice(problem.v, 2, first, count);
    part.bias = slice(problem.bias, 3, first, count);
    if (n > 0) part.sinks = {};
    AttentionResult result = sound.attend(part, {}, options);
    if (n == 0) {
      sum = std::move(result);
    } else {
      merge(sum, result);
    }
  }
  return sum;
}

// A row of a problem whose scores are its bias.
void plain_softmax(const ResolvedAttention& r, const Pair& row, AttentionResult& result) {
  const std::int64_t at = (row.b * r.heads + row.h) * r.queries + row.i;
  float sum = 0;
  std::vector<float> output(static_cast<std::size_t>(r.value_width));
  for (std::int64_t j = 0; j < r.keys; ++j) {
    const double score = element(r.bias, r.bias.offset(row.b, row.h, row.i, j));
    const float weight = std::exp(static_cast<float>(score));
    sum += weight;
    const std::int64_t first = r.v.offset(row.b, r.key_head(row.h), j, 0);
    for (std::size_t e = 0; e < output.size(); ++e) {
      output[e] += weight * static_cast<float>(
                                element(r.v, first + static_cast<std::int64_t>(e) * r.v.stride[3]));
    }
  }
  result.lse.data<float>()[at] = std::log(sum);
  for (std::size_t e = 0; e < output.size(); ++e) {
    result.output.data<float>()[at * r.value_width + static_cast<std::int64_t>(e)] =
        output[e] / sum;
  }
}

}  // namespace

Control faulty_oracle(const char* name, AttentionFault fault) {
  return {name, [fault](const AttentionOperation&) {
            return AttentionOperation{.attend = [fault](const AttentionProblem& problem,
                                                        const AttentionRequest& request,
                                                        const AttentionOptions&) {
              const ResolvedAttention resolved = resolve(problem);
              AttentionResult result = room_for(resolved, request);
              const AttentionOutputs outputs{.output = result.output.mutable_view(),
                                             .lse = result.lse.mutable_view(),
                                             .entropy = result.entropy.mutable_view(),
                                             .column_sums = result.column_sums.mutable_view()};
              attend_oracle(resolved, resolve_outputs(resolved, problem, outputs), fault);
              return result;
            }};
          }};
}

AttentionOperation mask_by_a_number(const AttentionOperation& sound) {
  return {.attend = [sound](const AttentionProblem& problem, const AttentionRequest& request,
                            const AttentionOptions& options) {
    Setting setting = with_scores_as_bias(
        problem, [](double score, bool seen) { return seen ? score : score - 1e9; });
    setting.problem.bias = setting.own(converted(setting.problem.bias, DType::float32));
    return sound.attend(setting.problem, request, options);
  }};
}

AttentionOperation split_keys_by_threads(const AttentionOperation& sound) {
  return {.attend = [sound](const AttentionProblem& problem, const AttentionRequest&,
                            const AttentionOptions& options) {
    const Setting setting = with_scores_as_bias(problem, excluded_is_minus_infinity);
    return in_parts(sound, setting.problem, options);
  }};
}

AttentionOperation keep_the_maximum(const AttentionOperation&) {
  return {.attend = [](const AttentionProblem& problem, const AttentionRequest&,
                       const AttentionOptions&) {
    const Setting setting = with_scores_as_bias(problem, excluded_is_minus_infinity);
    const ResolvedAttention r = resolve(setting.problem);
    AttentionResult result = room_for(r, {});
    for (std::int64_t b = 0; b < r.batch; ++b) {
      for (std::int64_t h = 0; h < r.heads; ++h) {
        for (std::int64_t i = 0; i < r.queries; ++i) plain_softmax(r, {b, h, i, 0}, result);
      }
    }
    return result;
  }};
}

AttentionOperation keep_weights_unscaled(const AttentionOperation& sound) {
  return {.attend = [sound](const AttentionProblem& problem, const AttentionRequest& request,
                            const AttentionOptions& options) {
    AttentionResult result = sound.attend(problem, request, options);
    const auto kept = static_cast<float>(1 - problem.dropout);
    for (std::int64_t n = 0; n < result.output.size(); ++n) result.output.data<float>()[n] *= kept;
    return result;
  }};
}

AttentionOperation compute_in_float32(const AttentionOperation& sound) {
  return {.attend = [sound](const AttentionProblem& problem, const AttentionRequest& request,
                            const AttentionOptions& options) {
    AttentionProblem narrow = problem;
    const Tensor q = converted(problem.q, DType::float32);
    const Tensor k = converted(problem.k, DType::float32);
    const Tensor v = converted(problem.v, DType::float32);
    narrow.q = q.view();
    narrow.k = k.view();
    narrow.v = v.view();
    AttentionResult result = sound.attend(narrow, request, options);
    for (Tensor AttentionResult::* each :
         {&AttentionResult::output, &AttentionResult::lse, &AttentionResult::entropy,
          &AttentionResult::column_sums}) {
      if (result.*each) result.*each = converted((result.*each).view(), problem.q.dtype());
    }
    return result;
  }};
}

AttentionOperation hold_scores_in_16_bits(const AttentionOperation& sound) {
  return {.attend = [sound](const AttentionProblem& problem, const AttentionRequest& request,
                            const AttentionOptions& options) {
    AttentionProblem unscaled = problem;
    unscaled.scale = 1;
    const double scale = resolve(problem).scale;
    const Setting setting = with_scores_as_bias(unscaled, [scale](double score, bool seen) {
      return seen ? scale * static_cast<double>(to_float(to_float16(score))) : -kInfinity;
    });
    return sound.attend(setting.problem, request, options);
  }};
}

}  // namespace volvelle::properties
