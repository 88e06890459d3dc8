// What PyTorch's modules give, forward and backward (tests/golden/make_modules.py).
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/random_numbers.h"
#include "support/arrays.h"
#include "support/golden_arrays.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/nn/causal_self_attention.h"
#include "volvelle/nn/embedding.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/nn/linear.h"
#include "volvelle/nn/multi_head_attention.h"
#include "volvelle/nn/norm.h"
#include "volvelle/nn/stack.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::GoldenArrays;
using testing::values_of;

using Inputs = std::vector<Variable>;

struct Golden {
  std::string name;
  std::vector<Shape> inputs;
  std::function<std::unique_ptr<Module>(DType)> make;
  std::function<Variable(const Module&, const Inputs&, const ForwardOptions&)> run;
};

const std::int64_t kIds[] = {3, 1, 10, 0, 3, 7, 7, 2, 9, 3};
const std::int64_t kLabels[] = {1, 10, 0, 3, -100, 7, 2, 9, 3, 5};
const Shape kX{2, 5, 8};

template <class M>
Variable forward(const Module& module, const Inputs& in, const ForwardOptions& how) {
  return static_cast<const M&>(module).forward(in[0], how);
}

Variable with_memory(const Module& module, const Inputs& in, const ForwardOptions& how) {
  return static_cast<const MultiHeadAttention&>(module).forward(in[0], how, {.memory = in[1]});
}

template <class M, class... Arguments>
auto maker(Arguments... arguments) {
  return [=](DType dtype) -> std::unique_ptr<Module> {
    return std::make_unique<M>(arguments..., dtype);
  };
}

Golden attention(const std::string& name, MultiHeadAttentionOptions options,
                 std::vector<Shape> inputs = {kX}) {
  const bool memory = inputs.size() == 2;
  options.width = 8;
  options.heads = 2;
  return {name, std::move(inputs),
          [options](DType dtype) mutable -> std::unique_ptr<Module> {
            options.dtype = dtype;
            return std::make_unique<MultiHeadAttention>(options);
          },
          memory ? with_memory : forward<MultiHeadAttention>};
}

StackOptions stack_options(const char* placement, Activation activation, std::int64_t layers) {
  return {.layers = layers,
          .width = 8,
          .heads = 2,
          .feed_forward = 12,
          .placement = placement,
          .activation = activation};
}

// One layer without a final norm is PyTorch's layer; its names lack "layers.0.".
Golden layer(const std::string& name, const char* placement, Activation activation) {
  StackOptions options = stack_options(placement, activation, 1);
  options.final_norm = FinalNorm::no;
  return {name,
          {kX},
          [options](DType dtype) mutable -> std::unique_ptr<Module> {
            options.dtype = dtype;
            return std::make_unique<Stack>(options);
          },
          forward<Stack>};
}

std::unique_ptr<Module> make_language_model(DType dtype) {
  LanguageModelOptions options{.stack = stack_options("pre", Activation::gelu_tanh, 2),
                               .vocabulary = 11,
                               .positions = "learned(rows=6)"};
  options.stack.causal = true;
  options.stack.dtype = dtype;
  return std::make_unique<LanguageModel>(options);
}

Variable logits(const Module& module, const Inputs&, const ForwardOptions& how) {
  return static_cast<const LanguageModel&>(module).forward(View(kIds, {2, 5}), how);
}

std::unique_ptr<Module> make_rotary_model(DType dtype) {
  LanguageModelOptions options{.stack = stack_options("pre", Activation::gelu_tanh, 2),
                               .vocabulary = 11,
                               .positions = "rotary(base=50, pairing=interleaved)"};
  options.stack.causal = true;
  options.stack.dtype = dtype;
  return std::make_unique<LanguageModel>(options);
}

// In the order of the script, whose case numbers are seeds.
std::vector<Golden> cases() {
  return {
      {"linear", {kX}, maker<Linear>(8, 5, Bias::with), forward<Linear>},
      {"linear_without_bias", {kX}, maker<Linear>(8, 5, Bias::without), forward<Linear>},
      {"embedding",
       {},
       maker<Embedding>(11, 8),
       [](const Module& module, const Inputs&, const ForwardOptions&) {
         return static_cast<const Embedding&>(module).forward(View(kIds, {2, 5}));
       }},
      {"layer_norm", {kX}, maker<LayerNorm>(8, 1e-5), forward<Norm>},
      {"rms_norm", {kX}, maker<RmsNorm>(8, 1e-6), forward<Norm>},
      attention("attention", {}),
      attention("attention_without_bias", {.biases = false}),
      attention("attention_causal", {.causal = true}),
      attention("attention_memory", {}, {kX, {2, 7, 8}}),
      attention("attention_separate", {.memory_width = 6}, {kX, {2, 7, 6}}),
      layer("post_relu", "post", Activation::relu),
      layer("post_gelu", "post", Activation::gelu),
      layer("pre_relu", "pre", Activation::relu),
      layer("pre_gelu", "pre", Activation::gelu),
      {"encoder",
       {kX},
       [](DType dtype) -> std::unique_ptr<Module> {
         StackOptions options = stack_options("pre", Activation::relu, 3);
         options.dtype = dtype;
         return std::make_unique<Stack>(options);
       },
       forward<Stack>},
      {"language_model", {}, make_language_model, logits},
      {"language_model_loss",
       {},
       make_language_model,
       [](const Module& module, const Inputs& in, const ForwardOptions& how) {
         return cross_entropy(logits(module, in, how), View(kLabels, {2, 5}));
       }},
      {"causal_self_attention",
       {kX},
       [](DType dtype) -> std::unique_ptr<Module> {
         return std::make_unique<CausalSelfAttention>(
             CausalSelfAttentionOptions{.width = 8, .heads = 2, .dtype = dtype});
       },
       [](const Module& module, const Inputs& in, const ForwardOptions& how) {
         return static_cast<const CausalSelfAttention&>(module).forward(in[0], how);
       }},
      {"rotary_language_model", {}, make_rotary_model, logits},
  };
}

// The script's numbers: rounded to float32 whatever the dtype.
Tensor drawn(std::size_t seed, const Shape& shape, DType dtype, double scale = 1,
             double offset = 0) {
  RandomNumbers random(seed);
  return filled(dtype, shape,
                [&]() -> double { return static_cast<float>(random.unit() * scale + offset); });
}

Tensor joined(const std::vector<Variable>& of, DType dtype) {
  std::vector<double> all;
  for (const Variable& variable : of) {
    const std::vector<double> values = values_of(variable.grad().view());
    all.insert(all.end(), values.begin(), values.end());
  }
  const auto count = static_cast<std::int64_t>(all.size());
  return converted(View(all.data(), {count}), dtype);
}

// Of the largest number, what products in bfloat16 may be off by after three layers: a ReLU that
// opens or closes by a rounding moves gradients by a tenth.
constexpr double kShareOfBfloat16 = 0.15;

// What is wrong with a module under a case's numbers; empty: nothing.
std::string difference(const Golden& golden, std::size_t number, const Module& module, DType dtype,
                       DType compute = DType::float32) {
  static const GoldenArrays right("modules/modules.npz");
  std::vector<Variable> parameters, inputs;
  for (NamedParameter& parameter : module.parameters()) {
    Variable& variable = parameter.variable;
    const bool is_norm_weight = variable.rank() == 1 && parameter.name.ends_with("weight");
    variable.replace(drawn(1000 * number + parameters.size(), variable.shape(), dtype, 0.5,
                           is_norm_weight ? 1 : 0));
    parameters.push_back(variable);
  }
  for (const Shape& shape : golden.inputs) {
    inputs.emplace_back(drawn(1000 * number + 900 + inputs.size(), shape, dtype), true);
  }
  const Variable output = golden.run(module, inputs, {.compute = compute});
  if (output.rank() == 0) {
    backward(output);
  } else {
    backward(output, drawn(1000 * number + 990, output.shape(), dtype).view());
  }
  const auto wrong = [&](const std::string& part, const Tensor& ours) {
    return right.difference(golden.name + "." + part, ours.view(),
                            compute == DType::bfloat16 ? kShareOfBfloat16 : 0);
  };
  return wrong("output", output.value()) +
         (inputs.empty() ? "" : wrong("inputs", joined(inputs, dtype))) +
         wrong("parameters", joined(parameters, dtype));
}

void expect_golden(DType dtype, DType compute = DType::float32) {
  const std::vector<Golden> all = cases();
  for (std::size_t number = 0; number < all.size(); ++number) {
    const std::unique_ptr<Module> module = all[number].make(dtype);
    EXPECT_EQ(difference(all[number], number, *module, dtype, compute), "") << all[number].name;
  }
}

TEST(GoldenModules, AreThoseOfPyTorchInFloat64) { expect_golden(DType::float64); }
TEST(GoldenModules, AreThoseOfPyTorchInFloat32) { expect_golden(DType::float32); }
TEST(GoldenModules, AreThoseOfPyTorchWithProductsInBfloat16) {
  expect_golden(DType::float32, DType::bfloat16);
}

TEST(GoldenModules, HaveParametersOfPyTorchsNamesAndShapesInItsOrder) {
  std::ifstream file(VOLVELLE_SOURCE_DIR "/tests/golden/modules/names.txt");
  std::string right((std::istreambuf_iterator<char>(file)), {}), ours;
  for (const Golden& golden : cases()) {
    const bool is_layer = golden.name.starts_with("pre_") || golden.name.starts_with("post_");
    for (const NamedParameter& parameter : golden.make(DType::float32)->parameters()) {
      std::string name = parameter.name;
      if (is_layer) name = name.substr(std::string("layers.0.").size());
      std::string shape;
      for (const std::int64_t length : parameter.variable.shape()) {
        shape += (shape.empty() ? "" : ",") + std::to_string(length);
      }
      ours += golden.name + " " + name + " " + shape + "\n";
    }
  }
  EXPECT_EQ(ours, right);
}

// The control: the wrong activation, placement, mask or tie is seen.
TEST(GoldenModules, ControlAnotherModuleUnderTheSameNumbersDiffers) {
  const std::vector<Golden> all = cases();
  const auto at = [&](const std::string& name) {
    for (std::size_t number = 0; number < all.size(); ++number) {
      if (all[number].name == name) return number;
    }
    throw std::out_of_range(name);
  };
  const auto expect_differs = [&](const std::string& numbers, const std::string& module) {
    for (const DType compute : {DType::float32, DType::bfloat16}) {
      EXPECT_NE(difference(all[at(numbers)], at(numbers), *all[at(module)].make(DType::float32),
                           DType::float32, compute),
                "")
          << module << " under the numbers of " << numbers;
    }
  };
  expect_differs("post_relu", "pre_relu");
  expect_differs("pre_gelu", "pre_relu");
  expect_differs("attention_causal", "attention");
}

}  // namespace
}  // namespace volvelle
