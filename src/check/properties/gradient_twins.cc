// Broken twins of the backward call.
#include <algorithm>

#include "check/properties/distance.h"
#include "check/properties/gradient_oracle.h"
#include "check/properties/twins.h"

namespace volvelle::properties {
namespace {

void add_all(AttentionGradientResult& sum, const AttentionGradientResult& part) {
  for (const auto each : kGradients) {
    for (std::int64_t n = 0; n < (sum.*each).size(); ++n) {
      (sum.*each).data<float>()[n] += (part.*each).data<float>()[n];
    }
  }
}

// Queries [first, first + count) of a problem, standing where they stood.
Setting some_queries(const AttentionProblem& p, std::int64_t first, std::int64_t count) {
  Setting part{p, {}};
  AttentionProblem& problem = part.problem;
  const std::int64_t offset =
      p.alignment == Alignment::top_left ? 0 : p.k.shape()[2] - p.q.shape()[2];
  problem.q = slice(p.q, 2, first, count);
  problem.alignment = Alignment::bottom_right;
  problem.query_offset = part.integers({1}, {offset + first});
  for (View AttentionProblem::* array : {&AttentionProblem::bias, &AttentionProblem::keep}) {
    const View& whole = p.*array;
    const int axis = whole.rank() - 2;
    if (whole && whole.shape()[axis] > 1) problem.*array = slice(whole, axis, first, count);
  }
  return part;
}

// Only what is summed over the queries: k's, v's, the tables', the slopes' and the sinks'.
AttentionGradientResult sums_of(AttentionGradientResult gradients) {
  gradients.q = gradients.bias = Tensor();
  return gradients;
}

}  // namespace

Control faulty_oracle(const char* name, BackwardFault fault) {
  return {name, [fault](const AttentionOperation& sound) {
            AttentionOperation twin;
            twin.attend = sound.attend;
            twin.attend_backward = [fault](const AttentionProblem& problem, const AttentionSaved&,
                                           const View& grad_output, const AttentionOptions&) {
              return oracle_gradients(problem, grad_output, fault);
            };
            return twin;
          }};
}

AttentionOperation add_gradients_by_threads(const AttentionOperation& sound) {
  AttentionOperation twin;
  twin.attend = sound.attend;
  twin.attend_backward = [sound](const AttentionProblem& problem, const AttentionSaved& saved,
                                 const View& grad_output, const AttentionOptions& options) {
    const std::int64_t queries = problem.q.shape()[2];
    const std::int64_t parts = std::clamp<std::int64_t>(options.threads, 1, queries);
    AttentionGradientResult sum;
    for (std::int64_t n = 0; n < parts; ++n) {
      const std::int64_t first = queries * n / parts;
      const std::int64_t count = queries * (n + 1) / parts - first;
      const Setting part = some_queries(problem, first, count);
      AttentionGradientResult gradients =
          sums_of(sound.attend_backward(part.problem,
                                        {.output = slice(saved.output, 2, first, count),
                                         .lse = slice(saved.lse, 2, first, count)},
                                        slice(grad_output, 2, first, count), options));
      if (n == 0) {
        sum = std::move(gradients);
      } else {
        add_all(sum, gradients);
      }
    }
    return sum;
  };
  return twin;
}

}  // namespace volvelle::properties
