#include "volvelle/nn/module.h"

#include <gtest/gtest.h>

#include <string>

namespace volvelle {
namespace {

Variable parameter(const Shape& shape) {
  return Variable(Tensor::zeros(DType::float32, shape), true);
}

class Leaf : public Module {
 public:
  explicit Leaf(Variable weight) : weight_(std::move(weight)) {
    add_parameter("weight", weight_);
    add_parameter("bias", bias_);
  }
  void set_bias(Variable bias) { bias_ = std::move(bias); }

 private:
  Variable weight_, bias_;
};

class Tree : public Module {
 public:
  Tree() : first(parameter({2, 3})), second(parameter({4})), inlined(own_) {
    add_module("first", first);
    add_module("second.of", second);
    add_module("", inlined);
    add_parameter("own", own_);
  }

 private:
  Variable own_ = parameter({5});

 public:
  Leaf first, second, inlined;
};

std::string names(const Module& module) {
  std::string text;
  for (const NamedParameter& p : module.parameters())
    text += p.name + to_string(p.variable.shape());
  return text;
}

TEST(Module, ListsItsOwnParametersBeforeThoseOfItsChildrenEachOnce) {
  const Tree tree;
  EXPECT_EQ(names(tree), "own(5,)first.weight(2,3)second.of.weight(4,)");
  EXPECT_EQ(tree.parameter_count(), 15);
}

TEST(Module, NamesWhatIsTied) {
  const Tree tree;
  const std::vector<TiedName> tied = tree.tied_names();
  ASSERT_EQ(tied.size(), 1u);
  EXPECT_EQ(tied[0].name, "weight");
  EXPECT_EQ(tied[0].of, "own");
}

TEST(Module, CountsWhatAMemberHoldsWhenItIsAsked) {
  Tree tree;
  tree.first.set_bias(parameter({7}));
  EXPECT_EQ(names(tree), "own(5,)first.weight(2,3)first.bias(7,)second.of.weight(4,)");
}

}  // namespace
}  // namespace volvelle
