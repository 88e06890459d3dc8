// The backward of every path on every instruction set against the oracle's, over random
// combinations of all options.
#include "support/gradients.h"
#include "support/properties.h"

namespace volvelle::testing {
namespace {

void all_routes_agree(DType dtype) {
  holds("every path gives the oracle's gradients in " + std::string(name_of(dtype)), [dtype] {
    const Recipe recipe = *any_recipe(dtype);
    const Made made = make(recipe);
    const Gradients right = oracle_gradients(made.problem, made.grad_output);
    for (const Route& route : gradient_routes()) {
      const GradientType type = recipe.seed % 2 == 0 ? GradientType::own : GradientType::computing;
      const Gradients ours = gradients(made.problem, made.grad_output, route, 2, type);
      const std::string wrong = gradient_difference(made.problem, made.grad_output, ours, right);
      if (!wrong.empty()) RC_FAIL(route.name + ": " + wrong);
    }
  });
}

TEST(GradientAgreement, EveryPathGivesTheOraclesInFloat32) { all_routes_agree(DType::float32); }
TEST(GradientAgreement, EveryPathGivesTheOraclesInFloat64) { all_routes_agree(DType::float64); }
TEST(GradientAgreement, EveryPathGivesTheOraclesInFloat16) { all_routes_agree(DType::float16); }
TEST(GradientAgreement, EveryPathGivesTheOraclesInBFloat16) { all_routes_agree(DType::bfloat16); }

// What the tolerances let through must not include any known fault.
TEST(GradientAgreement, ControlEveryFaultIsBeyondTheTolerance) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    Recipe recipe;
    recipe.dtype = dtype;
    recipe.batch = recipe.key_heads = recipe.group = 2;
    recipe.queries = 33;
    recipe.keys = 40;
    recipe.width = recipe.value_width = recipe.turned = 16;
    recipe.softcap = 1;
    recipe.bias = Span::plane;
    recipe.slopes = recipe.sinks = recipe.causal = true;
    recipe.table_reach = 3;
    recipe.buckets = Buckets::two_way;
    recipe.dropout = 0.5;
    recipe.relative_keys = recipe.relative_queries = recipe.relative_values = 4;
    const Made made = make(recipe);
    const Gradients right = oracle_gradients(made.problem, made.grad_output);
    // Of sums over all queries the rounding of half-precision outputs leaves too little to tell.
    const int faults =
        dtype == DType::float32 ? kBackwardFaults : static_cast<int>(BackwardFault::slopes_halved);
    for (int n = 1; n < faults; ++n) {
      const Gradients wrong =
          oracle_gradients(made.problem, made.grad_output, static_cast<BackwardFault>(n));
      EXPECT_NE(gradient_difference(made.problem, made.grad_output, wrong, right), "")
          << "fault " << n << " " << name_of(dtype);
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
