// Attention of two tokens, by views over plain arrays: the worked example of the README.
#include <cstdio>

#include "volvelle/attention/attend.h"

int main() {
  const double q[] = {1, 0, 1, 1};
  const double k[] = {1, 0, 0, 1};
  const double v[] = {1, 2, 3, 4};

  const volvelle::AttentionProblem problem{.q = {q, {2, 2}}, .k = {k, {2, 2}}, .v = {v, {2, 2}}};
  const volvelle::AttentionResult result = volvelle::attend(problem);

  const double* y = result.output.data<double>();
  std::printf("%.4f %.4f\n%.4f %.4f\n", y[0], y[1], y[2], y[3]);
}
