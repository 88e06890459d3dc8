#pragma once

#include <gtest/gtest.h>

#include <string>

#include "volvelle/attention/simd.h"

namespace volvelle::testing {

/// A test that runs once on every instruction set of this build and CPU.
class OnEveryInstructionSet : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_simd_target(GetParam());
    ASSERT_EQ(simd_target(), GetParam());
  }
  void TearDown() override { set_simd_target("best"); }
};

}  // namespace volvelle::testing

/// Makes the tests of a fixture above run, under the name `suite`.
#define VOLVELLE_ON_EVERY_INSTRUCTION_SET(suite, fixture)                                   \
  INSTANTIATE_TEST_SUITE_P(suite, fixture, ::testing::ValuesIn(::volvelle::simd_targets()), \
                           [](const auto& test) { return test.param; })
