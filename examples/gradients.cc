// One step of gradient descent through attention: the output is to come closer to a target. The
// gradients come from the saved output and log-sum-exp; only those asked for are computed.
#include <cstdio>
#include <vector>

#include "volvelle/attention/attend_backward.h"

namespace {

constexpr std::int64_t H = 2, T = 64, D = 16;
constexpr std::size_t kSize = H * T * D;

double half_squared_distance(const float* a, const std::vector<float>& b,
                             std::vector<float>& by_a) {
  double sum = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    by_a[i] = a[i] - b[i];
    sum += 0.5 * by_a[i] * by_a[i];
  }
  return sum;
}

}  // namespace

int main() {
  std::vector<float> q(kSize), k(kSize), v(kSize), target(kSize, 0.25f), grad_output(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    q[i] = static_cast<float>(i % 7) / 7 - 0.5f;
    k[i] = static_cast<float>(i % 11) / 11 - 0.5f;
    v[i] = static_cast<float>(i % 13) / 13 - 0.5f;
  }
  const volvelle::AttentionProblem problem{.q = {q.data(), {H, T, D}},
                                           .k = {k.data(), {H, T, D}},
                                           .v = {v.data(), {H, T, D}},
                                           .causal = true};

  const volvelle::AttentionResult before = volvelle::attend(problem);
  const double distance = half_squared_distance(before.output.data<float>(), target, grad_output);
  const volvelle::AttentionGradientResult gradients =
      volvelle::attend_backward(problem, {.output = before.output.view(), .lse = before.lse.view()},
                                volvelle::View(grad_output.data(), {H, T, D}), {.k = false});

  constexpr float kRate = 0.1f;
  for (std::size_t i = 0; i < kSize; ++i) {
    q[i] -= kRate * gradients.q.data<float>()[i];
    v[i] -= kRate * gradients.v.data<float>()[i];
  }
  const volvelle::AttentionResult after = volvelle::attend(problem);
  const double closer = half_squared_distance(after.output.data<float>(), target, grad_output);
  std::printf("a step of gradient descent comes closer: %s\n", closer < distance ? "yes" : "no");
  return closer < distance ? 0 : 1;
}
