#pragma once

#include <gtest/gtest.h>

#include "support/recipe.h"
#include "support/routes.h"

namespace volvelle::testing {

/// Every route gives the oracle's answer.
inline void expect_oracles_answer(const AttentionProblem& problem) {
  const Answer right = oracle_answer(problem);
  for (const Route& route : routes()) {
    EXPECT_EQ(difference(problem, answer(problem, route), right), "") << route.name;
  }
}

inline void expect_oracles_answer(const Recipe& recipe) {
  SCOPED_TRACE(::testing::PrintToString(recipe));
  expect_oracles_answer(make(recipe).problem);
}

}  // namespace volvelle::testing
