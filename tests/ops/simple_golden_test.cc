// The simple operators beside PyTorch's, forward and backward
// (tests/golden/make_simple_operators.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "support/arrays.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/io/arrays.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/reshape.h"
#include "volvelle/ops/scale.h"
#include "volvelle/ops/split.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

using testing::values_of;
using Values = std::vector<double>;

class SimpleGolden : public testing::OnEveryInstructionSet {};

const NamedArrays& golden() {
  static const NamedArrays kArrays =
      read_arrays(VOLVELLE_SOURCE_DIR "/tests/golden/operators/simple.npz");
  return kArrays;
}

const Tensor& golden(const std::string& name) {
  const Tensor* const array = find_array(golden(), name);
  if (array == nullptr) throw std::logic_error("no golden array " + name);
  return *array;
}

struct Inputs {
  Variable x{copy_of(golden("x").view()), true};
  Variable other{copy_of(golden("other").view()), true};
  Variable table{copy_of(golden("table").view()), true};
};

// The largest difference, as a share of the largest number.
double off(const Tensor& ours, const std::string& name) {
  const Values a = values_of(ours.view()), b = values_of(golden(name).view());
  if (a.size() != b.size()) return INFINITY;
  double most = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(a[i] - b[i]));
    size = std::max(size, std::fabs(b[i]));
  }
  return most / size;
}

constexpr double kAllowed = 3e-7;  // a few roundings of float32

void expect_golden(const std::string& name,
                   const std::function<Variable(const Inputs&)>& function) {
  const Inputs inputs;
  const Variable y = function(inputs);
  EXPECT_LE(off(y.value(), name + ".y"), kAllowed) << name;
  if (y.rank() == 0) {
    backward(y);
  } else {
    backward(y, golden("g").view());
  }
  const auto expect_gradient = [&](const char* input, const Variable& variable) {
    const std::string key = name + "." + input;
    ASSERT_EQ(static_cast<bool>(variable.grad()), find_array(golden(), key) != nullptr) << key;
    if (!variable.grad()) return;
    EXPECT_LE(off(variable.grad(), key), kAllowed) << key;
    // Control: one element that is off by a thousandth of the largest is seen.
    Tensor wrong = copy_of(variable.grad().view());
    double size = 0;
    for (const double value : values_of(wrong.view())) size = std::max(size, std::fabs(value));
    wrong.data<float>()[wrong.size() - 1] += static_cast<float>(size / 1000);
    EXPECT_GT(off(wrong, key), kAllowed) << key;
  };
  expect_gradient("x", inputs.x);
  expect_gradient("other", inputs.other);
  expect_gradient("table", inputs.table);
}

constexpr std::int64_t kFirsts[] = {5, 3, 0};  // of each part among the reversed ones

// The last axis with its parts in reverse order.
Variable reversed_parts(const Variable& x) {
  const std::vector<std::int64_t> lengths{2, 2, 3};
  const std::vector<Variable> parts = split(x, lengths);
  Tensor whole = Tensor::zeros(DType::float32, x.shape());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::int64_t row = 0; row < x.size() / 7; ++row) {
      for (std::int64_t c = 0; c < lengths[p]; ++c) {
        whole.data<float>()[row * 7 + kFirsts[p] + c] =
            parts[p].value().data<float>()[row * lengths[p] + c];
      }
    }
  }
  return record("reversed_parts", whole, parts, [lengths, shape = x.shape()](GradientPass& pass) {
    for (int p = 0; p < 3; ++p) {
      const auto part = static_cast<std::size_t>(p);
      Shape of_part = shape;
      of_part[2] = lengths[part];
      const View g = pass.grad_output();
      pass.give(p, copy_of(View(static_cast<const float*>(g.data()) + kFirsts[part], of_part,
                                g.strides())));
    }
  });
}

TEST_P(SimpleGolden, OperatorsGiveWhatPyTorchGives) {
  expect_golden("add", [](const Inputs& in) { return add(in.x, in.other); });
  expect_golden("add_table", [](const Inputs& in) { return add(in.x, in.table); });
  expect_golden("scale", [](const Inputs& in) { return scale(in.x, 0.3); });
  expect_golden("reshape",
                [](const Inputs& in) { return reshape(reshape(in.x, {15, 7}), {3, 5, 7}); });
  expect_golden("split", [](const Inputs& in) { return reversed_parts(in.x); });
  expect_golden("sum", [](const Inputs& in) { return sum(in.x); });
  expect_golden("mean", [](const Inputs& in) { return mean(in.x); });
  expect_golden("mean_square", [](const Inputs& in) { return mean_square(in.x); });
  expect_golden("dot", [](const Inputs& in) { return dot(in.x, in.other); });
  EXPECT_NEAR(norm(golden("x").view()), values_of(golden("norm.y").view())[0], 1e-13);
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Sets, SimpleGolden);

}  // namespace
}  // namespace volvelle
