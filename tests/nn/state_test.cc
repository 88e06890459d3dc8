#include "volvelle/nn/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/arrays.h"
#include "volvelle/base/error.h"
#include "volvelle/io/arrays.h"
#include "volvelle/nn/language_model.h"

namespace volvelle {
namespace {

using ::testing::AllOf;
using testing::filled;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::values_of;

LanguageModelOptions small(bool tied = true) {
  return {.stack = {.layers = 1, .width = 4, .heads = 2, .feed_forward = 6},
          .vocabulary = 5,
          .positions = "learned(rows=3)",
          .tied = tied};
}

// Arrays of a model's names and shapes, every number another.
NamedArrays numbered(const Module& module, DType dtype = DType::float32) {
  NamedArrays arrays;
  double next = 0;
  for (const NamedParameter& parameter : module.parameters()) {
    arrays.push_back(
        {parameter.name, filled(dtype, parameter.variable.shape(), [&] { return next += 0.25; })});
  }
  return arrays;
}

Tensor& array_of(NamedArrays& arrays, const std::string& name) {
  for (NamedArray& array : arrays) {
    if (array.name == name) return array.array;
  }
  throw std::out_of_range(name);
}

void drop(NamedArrays& arrays, const std::string& name) {
  std::erase_if(arrays, [&](const NamedArray& array) { return array.name == name; });
}

std::string refusal(Module& module, const NamedArrays& arrays, StateUse use = StateUse::copy) {
  try {
    load_state(module, arrays, use);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

bool holds(const Module& module, const NamedArrays& arrays) {
  for (const NamedParameter& parameter : module.parameters()) {
    const Tensor* array = find_array(arrays, parameter.name);
    if (array == nullptr || values_of(array->view()) != values_of(parameter.variable.view())) {
      return false;
    }
  }
  return true;
}

TEST(State, GoesOutToAFileAndComesBackIn) {
  LanguageModel from(small()), to(small());
  load_state(from, numbered(from));
  const std::string path = ::testing::TempDir() + "/state_test.safetensors";
  write_arrays(path, state_of(from), {.force = true});
  const NamedArrays read = read_arrays(path);
  EXPECT_FALSE(holds(to, read));
  load_state(to, read);
  EXPECT_TRUE(holds(to, read));
  EXPECT_TRUE(holds(to, numbered(from)));
  EXPECT_EQ(read.size(), from.parameters().size());
  std::filesystem::remove(path);
}

TEST(State, MayBeViewsOfAMappedFileWhichNobodyChanges) {
  LanguageModel from(small()), to(small());
  load_state(from, numbered(from));
  const std::string path = ::testing::TempDir() + "/state_view_test.safetensors";
  write_arrays(path, state_of(from), {.force = true});
  {
    const NamedArrays read = read_arrays(path);
    load_state(to, read, StateUse::view);
    EXPECT_EQ(to.parameters()[0].variable.value().raw(), read[0].array.raw());
  }
  EXPECT_TRUE(holds(to, numbered(from)));
  for (NamedParameter& parameter : to.parameters()) {
    EXPECT_THROW(parameter.variable.change(), InvalidArgument) << parameter.name;
  }
  // What was copied is one's own again.
  load_state(to, numbered(from));
  to.parameters()[0].variable.change();
  std::filesystem::remove(path);
}

TEST(State, OfOtherFloatingTypesIsConverted) {
  LanguageModel model(small());
  const NamedArrays wide = numbered(model, DType::float64);
  load_state(model, wide);
  EXPECT_TRUE(holds(model, wide));
  EXPECT_EQ(model.parameters()[0].variable.dtype(), DType::float32);
  EXPECT_THAT(refusal(model, wide, StateUse::view), HasSubstr("to be copied and not viewed"));
}

TEST(State, WhatDoesNotFitIsNamedAllOfIt) {
  LanguageModel model(small());
  const NamedArrays right = numbered(model);
  load_state(model, right);
  NamedArrays wrong = numbered(model, DType::float64);
  for (NamedArray& array : wrong)
    array.array = filled(DType::float64, array.array.shape(), [] { return -1; });
  drop(wrong, "positions.weight");
  drop(wrong, "stack.layers.0.linear1.bias");
  wrong.push_back({"stack.layers.1.linear1.bias", Tensor::zeros(DType::float32, {6})});
  wrong.push_back({"lm_head.weight", Tensor::zeros(DType::float32, {5, 4})});
  array_of(wrong, "stack.layers.0.linear2.weight") = Tensor::zeros(DType::float32, {6, 4});
  array_of(wrong, "stack.norm.bias") = Tensor::zeros(DType::int32, {4});
  EXPECT_THAT(
      refusal(model, wrong),
      AllOf(HasSubstr("[load_state]"),
            HasSubstr("missing (2): positions.weight, stack.layers.0.linear1.bias"),
            HasSubstr("extra (2): lm_head.weight, stack.layers.1.linear1.bias"),
            HasSubstr("stack.layers.0.linear2.weight is (6,4) float32, the module's (4,6) float32"),
            HasSubstr("stack.norm.bias is (4,) int32"), Not(HasSubstr("FinalNorm::no"))));
  EXPECT_TRUE(holds(model, right)) << "a refusal must change nothing";
}

TEST(State, AStackThatLacksItsFinalNormIsToldHowToSaySo) {
  LanguageModel model(small());
  NamedArrays arrays = numbered(model);
  drop(arrays, "stack.norm.weight");
  drop(arrays, "stack.norm.bias");
  EXPECT_THAT(refusal(model, arrays),
              AllOf(HasSubstr("missing (2): stack.norm.weight"), HasSubstr("FinalNorm::no")));
  LanguageModelOptions without = small();
  without.stack.final_norm = FinalNorm::no;
  LanguageModel bare(without);
  EXPECT_EQ(refusal(bare, arrays), "(accepted)");
}

// Trap 55: one copy goes out; a file with both is taken where they are equal, and refused where
// not.
TEST(State, TiedWeightsAreThereOnce) {
  LanguageModel model(small());
  NamedArrays arrays = numbered(model);
  EXPECT_EQ(find_array(state_of(model), "head.weight"), nullptr);
  arrays.push_back({"head.weight", copy_of(array_of(arrays, "embedding.weight").view())});
  EXPECT_EQ(refusal(model, arrays), "(accepted)");
  arrays.back().array.data<float>()[3] += 1;
  EXPECT_THAT(refusal(model, arrays), AllOf(HasSubstr("tied here, but not the same numbers"),
                                            HasSubstr("embedding.weight and head.weight")));
  NamedArrays second_name = numbered(model);
  const Tensor table = copy_of(array_of(second_name, "embedding.weight").view());
  drop(second_name, "embedding.weight");
  second_name.push_back({"head.weight", table});
  EXPECT_EQ(refusal(model, second_name), "(accepted)");
  LanguageModel apart(small(false));
  EXPECT_THAT(refusal(apart, numbered(model)), HasSubstr("missing (1): head.weight"));
}

}  // namespace
}  // namespace volvelle
