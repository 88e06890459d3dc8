#include "volvelle/ops/optimizer_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/base/error.h"
#include "volvelle/io/arrays.h"

namespace volvelle {
namespace {

using testing::normal_input;
using testing::values_of;
using Values = std::vector<double>;

class OptimizerSteps : public testing::OnEveryInstructionSet {};

constexpr DType kDtypes[] = {DType::float32, DType::float64};

const NamedArrays& golden() {
  static const NamedArrays kArrays =
      read_arrays(VOLVELLE_SOURCE_DIR "/tests/golden/optimizers/steps.npz");
  return kArrays;
}

const Tensor& golden(const std::string& name) {
  const Tensor* const array = find_array(golden(), name);
  if (array == nullptr) throw std::logic_error("no golden array " + name);
  return *array;
}

// Row `step` of the gradients that all cases share.
Tensor golden_gradient(std::int64_t step, DType dtype) {
  const Tensor& all = golden("gradients");
  return converted(View(all.data<float>() + step * all.shape()[1], {all.shape()[1]}), dtype);
}

// In float32 PyTorch's bits where the instruction set has its multiply-adds, in float64 a rounding
// beside them at most; else the roundings of 50 steps.
std::string far_from(const Tensor& ours, const Values& right, DType dtype) {
  const bool fused = simd_target().starts_with("avx2") || simd_target().starts_with("avx3");
  const double share = dtype == DType::float64 ? (fused ? 3e-16 : 1e-14) : (fused ? 0 : 3e-6);
  const Values values = values_of(ours.view());
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double allowed = share * (1 + std::fabs(right[i]));
    if (std::fabs(values[i] - right[i]) <= allowed) continue;
    return std::to_string(i) + ": " + std::to_string(values[i]) + ", PyTorch " +
           std::to_string(right[i]) + ", off by " + std::to_string(values[i] - right[i]);
  }
  return "";
}

// Runs 50 steps and holds the weights after 1, 10 and 50 of them to PyTorch's; what differs first.
template <class Step>
std::string run_golden(const std::string& name, DType dtype, Tensor& weight, Step&& step) {
  const Values kept =
      values_of(golden(name + "." + std::string(name_of(dtype)) + ".weights").view());
  std::size_t next = 0;
  for (std::int64_t n = 1; n <= 50; ++n) {
    step(n, golden_gradient(n - 1, dtype));
    if (n != 1 && n != 10 && n != 50) continue;
    const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(next++ * 37);
    const std::string difference = far_from(weight, Values(begin, begin + 37), dtype);
    if (!difference.empty()) return "after step " + std::to_string(n) + ", " + difference;
  }
  return "";
}

std::string golden_adamw(const std::string& name, DType dtype, double beta_shift = 0) {
  const Values numbers = values_of(golden(name + ".numbers").view());
  Tensor weight = converted(golden("weight").view(), dtype);
  Tensor first = Tensor::zeros(dtype, weight.shape()),
         second = Tensor::zeros(dtype, weight.shape());
  std::string text = run_golden(name, dtype, weight, [&](std::int64_t n, const Tensor& gradient) {
    adamw_step(weight.mutable_view(), gradient.view(), first.mutable_view(), second.mutable_view(),
               {.rate = numbers[0],
                .beta1 = numbers[1] + beta_shift,
                .beta2 = numbers[2],
                .epsilon = numbers[3],
                .decay = numbers[4],
                .step = n,
                .gradient_scale = numbers[5]});
  });
  const std::string of = name + "." + std::string(name_of(dtype));
  if (text.empty()) text = far_from(first, values_of(golden(of + ".first").view()), dtype);
  if (text.empty()) text = far_from(second, values_of(golden(of + ".second").view()), dtype);
  return text;
}

std::string golden_sgd(const std::string& name, DType dtype, double momentum_shift = 0) {
  const Values numbers = values_of(golden(name + ".numbers").view());
  const bool moves = numbers[1] != 0;
  Tensor weight = converted(golden("weight").view(), dtype);
  Tensor velocity =
      testing::filled(dtype, weight.shape(), [] { return NAN; });  // holds nothing yet
  std::string text = run_golden(name, dtype, weight, [&](std::int64_t n, const Tensor& gradient) {
    sgd_step(weight.mutable_view(), gradient.view(),
             moves ? velocity.mutable_view() : MutableView(),
             {.rate = numbers[0],
              .momentum = numbers[1] + momentum_shift,
              .decay = numbers[2],
              .nesterov = numbers[3] != 0,
              .first = n == 1,
              .gradient_scale = numbers[4]});
  });
  if (text.empty() && moves) {
    const std::string of = name + "." + std::string(name_of(dtype)) + ".velocity";
    text = far_from(velocity, values_of(golden(of).view()), dtype);
  }
  return text;
}

TEST_P(OptimizerSteps, AdamWGoesWherePyTorchGoesOverFiftySteps) {
  for (const DType dtype : kDtypes) {
    for (const char* name : {"adamw_default", "adamw_strong", "adamw_far_end"}) {
      EXPECT_EQ(golden_adamw(name, dtype), "") << name << " " << name_of(dtype);
      EXPECT_NE(golden_adamw(name, dtype, 1e-4), "") << "control: another beta1";
    }
  }
}

TEST_P(OptimizerSteps, SgdGoesWherePyTorchGoesOverFiftySteps) {
  for (const DType dtype : kDtypes) {
    EXPECT_EQ(golden_sgd("sgd_plain", dtype), "") << name_of(dtype);
    for (const char* name : {"sgd_momentum", "sgd_decay", "sgd_nesterov"}) {
      EXPECT_EQ(golden_sgd(name, dtype), "") << name << " " << name_of(dtype);
      EXPECT_NE(golden_sgd(name, dtype, 1e-4), "") << "control: another momentum";
    }
  }
}

Tensor normal(DType dtype, std::int64_t count, std::uint64_t seed) {
  return converted(normal_input({count}, seed).view(), dtype);
}

double norm_of_change(const Tensor& after, const Tensor& before) {
  const Values a = values_of(after.view()), b = values_of(before.view());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

TEST_P(OptimizerSteps, ReturnTheNormOfTheChange) {
  for (const DType dtype : kDtypes) {
    for (const std::int64_t count : {0, 1, 7, 511, 513, 70001}) {
      const Tensor gradient = normal(dtype, count, 1), before = normal(dtype, count, 2);
      Tensor weight = copy_of(before.view()), first = Tensor::zeros(dtype, {count});
      Tensor second = Tensor::zeros(dtype, {count});
      const double change = adamw_step(weight.mutable_view(), gradient.view(), first.mutable_view(),
                                       second.mutable_view(), {});
      EXPECT_NEAR(change, norm_of_change(weight, before), 2e-7 * change) << count;
      Tensor other = copy_of(before.view());
      const double moved = sgd_step(other.mutable_view(), gradient.view(), MutableView(), {});
      EXPECT_NEAR(moved, norm_of_change(other, before), 2e-7 * moved) << count;
    }
  }
}

// With epsilon 0 nothing may divide by what is not there: behind the last element.
TEST_P(OptimizerSteps, WhatIsBehindTheLastElementDoesNotCount) {
  for (const DType dtype : kDtypes) {
    const Tensor gradient = normal(dtype, 35, 1);
    Tensor weight = Tensor::zeros(dtype, {35}), first = Tensor::zeros(dtype, {35});
    Tensor second = Tensor::zeros(dtype, {35});
    const double change = adamw_step(weight.mutable_view(), gradient.view(), first.mutable_view(),
                                     second.mutable_view(), {.rate = 1, .epsilon = 0, .decay = 0});
    EXPECT_NEAR(change, std::sqrt(35.0), 1e-6);  // the first step of each is +-rate
  }
}

TEST_P(OptimizerSteps, ThreadsDoNotChangeABit) {
  for (const DType dtype : kDtypes) {
    const std::int64_t count = 200003;
    const Tensor gradient = normal(dtype, count, 1), start = normal(dtype, count, 2);
    std::vector<Tensor> ends;
    std::vector<double> changes;
    for (const int threads : {1, 2, 8}) {
      Tensor weight = copy_of(start.view()), first = copy_of(start.view());
      Tensor second = Tensor::zeros(dtype, {count});
      changes.push_back(adamw_step(weight.mutable_view(), gradient.view(), first.mutable_view(),
                                   second.mutable_view(), {.threads = threads}));
      changes.push_back(sgd_step(weight.mutable_view(), gradient.view(), first.mutable_view(),
                                 {.momentum = 0.9, .first = false, .threads = threads}));
      ends.push_back(weight);
      EXPECT_EQ(std::memcmp(ends[0].raw(), weight.raw(), weight.bytes()), 0) << threads;
      EXPECT_EQ(changes[0], changes[changes.size() - 2]);
      EXPECT_EQ(changes[1], changes.back());
    }
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Sets, OptimizerSteps);

TEST(BadOptimizerSteps, AreRefused) {
  Tensor w = normal(DType::float32, 6, 1), m = normal(DType::float32, 6, 2);
  Tensor v = Tensor::zeros(DType::float32, {6}), g = normal(DType::float32, 6, 3);
  Tensor wide = normal(DType::float64, 6, 1), half(DType::bfloat16, {6}),
         longer(DType::float32, {7});
  const auto adamw = [&](const MutableView& weight, const View& gradient, const MutableView& first,
                         const AdamWNumbers& numbers = {}) {
    return adamw_step(weight, gradient, first, v.mutable_view(), numbers);
  };
  const MutableView weight = w.mutable_view(), first = m.mutable_view();
  EXPECT_NO_THROW(adamw(weight, g.view(), first));
  EXPECT_THROW(adamw(MutableView(), g.view(), first), InvalidArgument);
  EXPECT_THROW(adamw(weight, View(), first), InvalidArgument);
  EXPECT_THROW(adamw(weight, g.view(), MutableView()), InvalidArgument);
  EXPECT_THROW(adamw(half.mutable_view(), g.view(), first), InvalidArgument);
  EXPECT_THROW(adamw(weight, wide.view(), first), InvalidArgument);
  EXPECT_THROW(adamw(weight, longer.view(), first), InvalidArgument);
  EXPECT_THROW(adamw(weight, w.view(), first), InvalidArgument);
  EXPECT_THROW(adamw(weight, g.view(), weight), InvalidArgument);
  EXPECT_THROW(adamw(weight, View(g.raw(), DType::float32, {6}, {0}), first), InvalidArgument);
  for (const AdamWNumbers& bad :
       {AdamWNumbers{.rate = -1}, AdamWNumbers{.rate = NAN}, AdamWNumbers{.beta1 = 1},
        AdamWNumbers{.beta2 = -0.1}, AdamWNumbers{.epsilon = -1}, AdamWNumbers{.decay = -1},
        AdamWNumbers{.step = 0}, AdamWNumbers{.gradient_scale = INFINITY},
        AdamWNumbers{.threads = -1}}) {
    EXPECT_THROW(adamw(weight, g.view(), first, bad), InvalidArgument);
  }
  const auto sgd = [&](const MutableView& velocity, const SgdNumbers& numbers) {
    return sgd_step(weight, g.view(), velocity, numbers);
  };
  EXPECT_NO_THROW(sgd(MutableView(), {}));
  EXPECT_THROW(sgd(MutableView(), {.momentum = 0.9}), InvalidArgument);
  EXPECT_THROW(sgd(longer.mutable_view(), {.momentum = 0.9}), InvalidArgument);
  EXPECT_THROW(sgd(first, {.momentum = -0.9}), InvalidArgument);
  EXPECT_THROW(sgd(first, {.nesterov = true}), InvalidArgument);
  EXPECT_THROW(sgd(first, {.rate = -1}), InvalidArgument);
  EXPECT_THROW(sgd(first, {.decay = -1}), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
