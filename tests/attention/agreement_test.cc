// All paths on all instruction sets against the oracle, over random combinations of all options.
#include "support/properties.h"
#include "support/routes.h"

namespace volvelle::testing {
namespace {

void all_routes_agree(DType dtype) {
  holds("every path gives the oracle's answer in " + std::string(name_of(dtype)), [dtype] {
    const Recipe recipe = *any_recipe(dtype);
    const Made made = make(recipe);
    const Answer right = oracle_answer(made.problem);
    for (const Route& route : routes()) {
      const std::string wrong = difference(made.problem, answer(made.problem, route), right);
      if (!wrong.empty()) RC_FAIL(route.name + ": " + wrong);
    }
  });
}

TEST(Agreement, EveryPathGivesTheOraclesAnswerInFloat32) {
  all_routes_agree(DType::float32);
  all_routes_agree(DType::float32);  // another hundred cases: the type that most will use
}
TEST(Agreement, EveryPathGivesTheOraclesAnswerInFloat64) { all_routes_agree(DType::float64); }
TEST(Agreement, EveryPathGivesTheOraclesAnswerInFloat16) { all_routes_agree(DType::float16); }
TEST(Agreement, EveryPathGivesTheOraclesAnswerInBFloat16) { all_routes_agree(DType::bfloat16); }

}  // namespace
}  // namespace volvelle::testing
