#pragma once

#include <string>
#include <vector>

#include "attention/oracle_backward.h"
#include "support/recipe.h"
#include "support/routes.h"
#include "volvelle/attention/attend_backward.h"

namespace volvelle::testing {

/// Every gradient that a problem has; the others are absent.
struct Gradients {
  Tensor q, k, v, bias, slopes, bias_table, bucket_table, sinks;
  Tensor relative_keys, relative_queries, relative_values;
};

/// For attend_backward to write.
AttentionGradients views_of(Gradients& gradients);

struct NamedGradient {
  const char* name;
  Tensor Gradients::* array;
  View AttentionProblem::* of;
};
/// All of them, for loops.
const std::vector<NamedGradient>& named_gradients();

/// In which type gradients are asked for.
enum class GradientType { own, computing };

/// The composed backward, and the fused one on every instruction set where it is there.
std::vector<Route> gradient_routes();

/// Those of them that take the problem.
std::vector<Route> gradient_routes_of(const AttentionProblem& problem);

/// Forward on the route, then back on it with what it saved. Throws unless the route is the one
/// that runs.
Gradients gradients(const AttentionProblem& problem, const View& grad_output, const Route& route,
                    int threads = 1, GradientType type = GradientType::own);

/// The oracle's, in the computing type.
Gradients oracle_gradients(const AttentionProblem& problem, const View& grad_output,
                           BackwardFault fault = BackwardFault::none,
                           GradientSum sum = GradientSum::terms);

/// What `ours` has wrong, beyond what dtypes and the lengths of sums allow; empty: nothing.
std::string gradient_difference(const AttentionProblem& problem, const View& grad_output,
                                const Gradients& ours, const Gradients& right);

/// The first gradient that is not the same bit for bit; empty: none.
std::string bit_difference(const Gradients& a, const Gradients& b);

}  // namespace volvelle::testing
