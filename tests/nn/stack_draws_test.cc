#include "volvelle/nn/stack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <utility>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/random_vectors.h"
#include "support/small_stack.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/placement.h"
#include "volvelle/nn/state.h"

namespace volvelle {
namespace {

using testing::normal_input;
using testing::same_bits;
using testing::small_stack;
using testing::stack_input;

TEST(StackDraws, DrawsBlockByBlockAndDeepNormShrinksWhatItDrew) {
  const auto drawn = [](const char* placement, std::int64_t cut) {
    StackOptions options = small_stack(placement, DType::float32);
    Stack stack(options);
    const auto initializer = make_initializer({.seed = 3, .layers = 2});
    if (cut == 0) {
      stack.initialize(*initializer);
    } else {
      stack.initialize_blocks(*initializer, 0, cut);
      stack.initialize_blocks(*initializer, cut, 2);
    }
    NamedArrays copies;
    for (const NamedArray& array : state_of(stack)) {
      copies.push_back({array.name, copy_of(array.array.view())});
    }
    return copies;
  };
  const NamedArrays post = drawn("post", 0), parts = drawn("post", 1), deep = drawn("deepnorm", 0);
  const auto beta = static_cast<float>(std::pow(16.0, -0.25));
  EXPECT_EQ(Stack(small_stack("deepnorm")).initial_factor(), depth_factors(2).beta);
  EXPECT_EQ(Stack(small_stack("post")).initial_factor(), 1);
  ASSERT_EQ(post.size(), deep.size());
  for (std::size_t i = 0; i < post.size(); ++i) {
    EXPECT_TRUE(same_bits(post[i].array, parts[i].array)) << post[i].name;
    const std::string& name = post[i].name;
    const bool scaled = name.ends_with("out_proj.weight") || name.ends_with("linear1.weight") ||
                        name.ends_with("linear2.weight");
    const bool packed = name.ends_with("in_proj_weight");
    const std::int64_t size = post[i].array.size();
    for (std::int64_t e = 0; e < size; ++e) {
      const bool shrunk = scaled || (packed && e >= size / 3 * 2);  // the rows of v
      EXPECT_EQ(deep[i].array.data<float>()[e],
                post[i].array.data<float>()[e] * (shrunk ? beta : 1))
          << name << " " << e;
    }
  }
}

// The document's third program: every block of its first stack, of either placement.
TEST(StackDraws, AreThoseOfPyTorchsModules) {
  const auto& published = testing::random_vectors()["program3"]["seed0_depth12_params"];
  const std::pair<const char*, const char*> names[] = {
      {"self_attn.in_proj_weight", "in_proj.weight"},
      {"self_attn.out_proj.weight", "out_proj.weight"},
      {"linear1.weight", "ff0.weight"},
      {"linear1.bias", "ff0.bias"},
      {"linear2.weight", "ff2.weight"},
      {"linear2.bias", "ff2.bias"}};
  for (const char* placement : {"post", "pre"}) {
    Stack stack({.layers = 12, .placement = placement});
    stack.initialize(*make_initializer({.seed = 0}));
    const NamedArrays drawn = state_of(stack);
    for (int layer = 0; layer < 12; ++layer) {
      for (const auto& [ours, theirs] : names) {
        const Tensor* array = find_array(drawn, "layers." + std::to_string(layer) + "." + ours);
        ASSERT_NE(array, nullptr);
        testing::Crc32 crc;
        crc.add(std::span(array->data<float>(), static_cast<std::size_t>(array->size())));
        EXPECT_EQ(crc.hex(), published["block" + std::to_string(layer) + "." + theirs]["crc32"])
            << placement << " " << layer << " " << theirs;
      }
    }
  }
}

TEST(StackDraws, SharesValuesWithAnotherOfTheSameDraws) {
  Stack pre(small_stack("pre", DType::float32)), post(small_stack("post", DType::float32));
  const auto initializer = make_initializer({.seed = 3});
  pre.initialize(*initializer);
  // pre's final norm has no fellow in post.
  EXPECT_EQ(share_values(post, pre), static_cast<std::int64_t>(post.parameters().size()));
  const std::vector<NamedParameter> ours = post.parameters(), theirs = pre.parameters();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].variable.value().raw(), theirs[i].variable.value().raw());
    EXPECT_TRUE(ours[i].variable.is_read_only() && theirs[i].variable.is_read_only());
    EXPECT_TRUE(ours[i].variable.requires_grad());
  }
  // Gradients stay apart.
  const Variable x = stack_input(small_stack("pre", DType::float32));
  const Variable y = post.forward(x);
  backward(y, converted(normal_input(y.shape(), 2).view(), y.dtype()).view());
  EXPECT_TRUE(ours[0].variable.grad());
  EXPECT_FALSE(theirs[0].variable.grad());
  // Another width shares its norms only where shapes agree: nothing here.
  StackOptions wider = small_stack("pre", DType::float32);
  wider.width = 8;
  Stack other(wider);
  EXPECT_EQ(share_values(other, pre), 2);  // linear1.bias of both blocks
  Stack deep(small_stack("deepnorm", DType::float32));
  EXPECT_THROW(share_values(deep, post), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
