#pragma once

#include <string>
#include <vector>

#include "attention/oracle.h"
#include "support/tolerance.h"
#include "volvelle/attention/attend.h"

namespace volvelle::testing {

/// One way to the answer: a path and, for the fused one, an instruction set.
struct Route {
  std::string name;
  AttentionPath path = AttentionPath::composed;
  std::string simd;
};

/// The composed path, and the fused one on every instruction set of this build and CPU.
std::vector<Route> routes();

/// The fused ones only.
std::vector<Route> fused_routes();

/// Those of them that take the problem: where the fused path refuses it, the composed one.
std::vector<Route> routes_of(const AttentionProblem& problem);

/// Everything there is to ask for.
struct Answer {
  Tensor output, lse, entropy, column_sums;
  bool rounded_weights = false;  ///< the route rounds them to bfloat16
};

Answer oracle_answer(const AttentionProblem& problem, AttentionFault fault = AttentionFault::none);

/// Whether the route, which is in force, may round weights to bfloat16.
bool rounds_weights(DType dtype, const Route& route);

/// Forces the route and throws std::logic_error unless it is the one that runs.
Answer answer(const AttentionProblem& problem, const Route& route, int threads = 1);

/// What `ours` has wrong, beyond what dtype and lengths allow; empty: nothing.
std::string difference(const AttentionProblem& problem, const Answer& ours, const Answer& right);

/// What rounding errors of a problem grow with; `logit` is that of the worst row.
Sizes sizes_of(const AttentionProblem& problem, const Answer& right);

/// Whether a number is as it should be; what is not finite must be so alike.
bool near(double ours, double right, const Allowed& allowed);

/// The first array that is not the same bit for bit; empty: none.
std::string bit_difference(const Answer& a, const Answer& b);

/// Sets the process back to its best instruction set when it goes.
class SimdScope {
 public:
  explicit SimdScope(const std::string& target);
  ~SimdScope();
};

}  // namespace volvelle::testing
