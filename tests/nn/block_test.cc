#include "volvelle/nn/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/plain_block.h"
#include "support/small_stack.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::same_bits;
using testing::small_stack;
using testing::stack_input;

std::string refusal(const NormPlacement& placement) {
  try {
    const Block block(small_stack("pre"), placement);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(Block, IsOneLayerOfAStack) {
  StackOptions options = small_stack("sandwich");
  options.layers = 1;
  options.final_norm = FinalNorm::no;
  const Block block(options, parse_placement("sandwich"));
  const Stack stack(options);
  testing::fill_parameters(block, 1);
  testing::fill_parameters(stack, 1);
  const Variable x = stack_input(options);
  EXPECT_TRUE(same_bits(block.forward(x).value(), stack.forward(x).value()));
  EXPECT_EQ("layers.0." + block.parameters()[3].name, stack.parameters()[3].name);
  EXPECT_EQ(to_text(block.placement()), to_text(parse_placement("sandwich")));
}

TEST(Block, TellsWhatEachStepAdds) {
  const StackOptions options = small_stack("parallel");
  const Block block(options, parse_placement("x + attention(n) + feed_forward(n); x + 0.5 * "
                                             "attention(x)"));
  testing::fill_parameters(block, 1);
  std::vector<Variable> branches;
  block.forward(stack_input(options), {}, &branches);
  EXPECT_EQ(branches.size(), 2u);
}

TEST(Block, RefusesPlacementsThatAreNone) {
  EXPECT_THAT(refusal({}), HasSubstr("needs a step"));
  EXPECT_THAT(refusal({.steps = {{}}}), HasSubstr("needs a sublayer"));
  EXPECT_THAT(refusal({.steps = {{.branches = {{.before = NormSlot::rms, .shared = true}}}}}),
              HasSubstr("usual kind"));
  EXPECT_THAT(refusal({.steps = {{.branches = {{.factor = INFINITY}}}}}), HasSubstr("finite"));
  EXPECT_THAT(refusal({.steps = {{.stream_factor = NAN, .branches = {{}}}}}), HasSubstr("finite"));
}

}  // namespace
}  // namespace volvelle
