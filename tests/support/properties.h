#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "support/recipe.h"

namespace volvelle::testing {

/// Runs a property on random cases. RapidCheck prints its seed; a failing case is shrunk and
/// printed with the line to run it again (RC_PARAMS="reproduce=...").
template <class Property>
void holds(const std::string& claim, Property&& property) {
  EXPECT_TRUE(rc::check(claim, property)) << claim;
}

/// Random recipes over all options; smaller numbers and fewer options are tried when one fails.
rc::Gen<Recipe> any_recipe(DType dtype);
/// The same with relative vectors, of one kind at least.
rc::Gen<Recipe> any_relative_recipe(DType dtype);

}  // namespace volvelle::testing

namespace rc {
template <>
struct Arbitrary<volvelle::testing::Recipe> {
  static Gen<volvelle::testing::Recipe> arbitrary() {
    return volvelle::testing::any_recipe(volvelle::DType::float32);
  }
};
}  // namespace rc
