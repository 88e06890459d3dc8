// Recomputation: the same bits, less memory, and what it refuses.
#include "volvelle/autograd/recompute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/base/error.h"
#include "volvelle/base/memory_reuse.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/dropout.h"
#include "volvelle/ops/reshape.h"
#include "volvelle/ops/scale.h"
#include "volvelle/ops/split.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::normal_input;
using testing::values_of;
using Inputs = std::vector<Variable>;
using Function = std::function<Variable(const Inputs&)>;

Variable parameter(const Shape& shape, std::uint64_t seed) {
  return Variable(converted(normal_input(shape, seed).view(), DType::float32), true);
}

// x scaled by its own mean square, so that its numbers are saved and its gradient is a sum: what a
// block's norm does.
Variable weighed(const Variable& x) {
  const Tensor squares = mean_square(x).value();
  const double by = element_as_double(squares.view(), 0);
  const Variable scaled = scale(x, by);
  return record("weighed", scaled.value(), {x}, [x = Saved(x), by](GradientPass& pass) {
    (void)x.view("weighed");
    const GradientSlot slot = pass.slot(0);
    const View g = pass.grad_output();
    float* const to = static_cast<float*>(slot.to.data());
    for (std::int64_t i = 0; i < element_count(g.shape()); ++i) {
      const float share = static_cast<const float*>(g.data())[i] * static_cast<float>(by);
      to[i] = slot.store == Store::accumulate ? to[i] + share : share;
    }
  });
}

// x + dropout(weighed(x + b)) + b: reads its input twice and its parameter twice.
Variable block(const Variable& x, const Variable& bias, std::uint64_t seed) {
  return add(add(x, dropout(weighed(add(x, bias)), 0.3, seed)), bias);
}

struct Net {
  Variable x = parameter({6, 50}, 1), first = parameter({50}, 2), second = parameter({50}, 3);

  std::vector<Tensor> gradients(const std::function<Variable(Function, Inputs)>& run) {
    for (Variable leaf : {x, first, second}) leaf.clear_grad();
    const Variable start = scale(x, 1.1);
    const Variable middle = run([&](const Inputs& in) { return block(in[0], first, 7); }, {start});
    const Variable end =
        run([&](const Inputs& in) { return add(block(in[0], second, 8), in[1]); }, {middle, start});
    // start and middle are read again behind the blocks, and first by both.
    backward(mean_square(add(add(end, middle), add(start, first))));
    return {x.grad(), first.grad(), second.grad()};
  }
};

Variable plainly(const Function& function, const Inputs& inputs) { return function(inputs); }

std::string different(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(a[i].raw(), b[i].raw(), a[i].bytes()) != 0) return std::to_string(i);
  }
  return "";
}

TEST(Recompute, GradientsHaveTheSameBits) {
  Net net;
  const std::vector<Tensor> right = net.gradients(plainly);
  EXPECT_EQ(different(net.gradients([](Function f, Inputs in) { return recompute(f, in); }), right),
            "");
  // Control: another seed the second time.
  int calls = 0;
  EXPECT_NE(different(net.gradients([&](Function f, Inputs in) {
              return recompute(
                  [f, &calls](const Inputs& again) { return dropout(f(again), 0.1, ++calls / 2); },
                  in);
            }),
                      right),
            "");
}

TEST(Recompute, NestsToTheSameBits) {
  Net net;
  const std::vector<Tensor> right = net.gradients(plainly);
  const auto twice = [](Function f, Inputs in) {
    return recompute([f](const Inputs& outer) { return recompute(f, outer); }, in);
  };
  EXPECT_EQ(different(net.gradients(twice), right), "");
}

TEST(Recompute, GradientsAreThoseOfDifferences) {
  testing::expect_gradients(
      [](const Inputs& x) {
        const Variable y = scale(x[0], 2);
        return recompute(
            [&x](const Inputs& in) { return dot(add(in[0], x[1]), add(in[0], in[1])); }, {y, x[2]});
      },
      {normal_input({3, 4}, 1), normal_input({4}, 2), normal_input({3, 4}, 3)});
}

// The same result handed over twice, and one that the function gives back as a view or as it is.
TEST(Recompute, InputsMayBeTheSameAndMayBeTheResult) {
  const auto through = [](const Function& function) {
    return [function](const Inputs& x) {
      const Variable y = scale(x[0], 3);
      return add(recompute(function, {y, y}), y);
    };
  };
  const std::vector<Tensor> inputs{normal_input({2, 3}, 1)};
  testing::expect_gradients(through([](const Inputs& in) { return add(in[0], in[1]); }), inputs);
  testing::expect_gradients(through([](const Inputs& in) { return in[1]; }), inputs);
  testing::expect_gradients(
      through([](const Inputs& in) { return reshape(reshape(in[0], {6}), {2, 3}); }), inputs);
  testing::expect_gradients(
      [](const Inputs& x) {
        return scale(recompute([](const Inputs& in) { return in[0]; }, {x[0]}), 2);
      },
      inputs);
}

TEST(Recompute, KeepsInputsOnlyAndOneTapeAtATime) {
  constexpr int kBlocks = 8;
  const std::int64_t size = 1 << 16;
  const auto peak = [&](bool again) {
    const MemoryReuse memory;
    const ReuseScope scope(memory);
    Variable x(Tensor::zeros(DType::float32, {size}), true);
    Variable stream = x;
    for (int i = 0; i < kBlocks; ++i) {
      const auto body = [](const Inputs& in) {
        return weighed(weighed(weighed(weighed(weighed(in[0])))));
      };
      stream = again ? recompute(body, {stream}) : body({stream});
    }
    backward(mean_square(stream));
    return memory.peak_bytes() / (static_cast<std::size_t>(size) * 4);
  };
  EXPECT_GE(peak(false), 5u * kBlocks);
  EXPECT_LE(peak(true), kBlocks + 5u + 4u);
}

TEST(Recompute, RunsPlainlyWhereNothingIsRecorded) {
  const NoGrad off;
  int calls = 0;
  const Variable x = parameter({2}, 1);
  const Variable y = recompute(
      [&](const Inputs& in) {
        ++calls;
        return scale(in[0], 2);
      },
      {x});
  EXPECT_TRUE(y.is_leaf());
  EXPECT_EQ(calls, 1);
}

TEST(Recompute, GradientsMayBeTurnedOffInsideAndOutside) {
  Variable x = parameter({2, 3}, 1);
  const auto half = [](const Inputs& in) {
    Variable constant;
    {
      const NoGrad off;
      constant = scale(in[0], 5);
    }
    return dot(in[0], constant);
  };
  const Variable out = recompute(half, {x});
  {
    const NoGrad off;  // of the code that calls backward: the function's tape is made all the same
    backward(out);
  }
  const std::vector<double> value = values_of(x.view()), ours = values_of(x.grad().view());
  for (std::size_t i = 0; i < value.size(); ++i) EXPECT_FLOAT_EQ(ours[i], 5 * value[i]);
}

std::string refusal(const Variable& output) {
  try {
    backward(output);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Recompute, ChangesInPlaceSinceTheForwardPassAreErrors) {
  Variable x = parameter({3}, 1), weight = parameter({3}, 2);
  const auto made = [&] {
    return recompute([&](const Inputs& in) { return dot(in[0], weight); }, {scale(x, 2)});
  };
  EXPECT_EQ(refusal(made()), "");
  const Variable after_weight = made();
  (void)weight.change();
  EXPECT_THAT(refusal(after_weight), HasSubstr("changed in place"));
  Variable input = scale(x, 2);
  const Variable after_input =
      recompute([](const Inputs& in) { return mean_square(in[0]); }, {input});
  (void)input.change();
  EXPECT_THAT(refusal(after_input), HasSubstr("changed in place"));
}

TEST(Recompute, AResultMadeOutsideMustBeAnInput) {
  Variable x = parameter({3}, 1);
  const Variable outside = scale(x, 2);
  const Variable out =
      recompute([&](const Inputs& in) { return dot(in[0], outside); }, {scale(x, 3)});
  EXPECT_THAT(refusal(out), HasSubstr("made outside"));
  EXPECT_THAT(refusal(out), HasSubstr("already followed"));
  x.clear_grad();
  backward(sum(outside));  // untouched by the failure
  EXPECT_EQ(values_of(x.grad().view()), (std::vector<double>{2, 2, 2}));
}

TEST(Recompute, AFunctionThatChangesItsMindIsRefused) {
  Variable x = parameter({4}, 1);
  int calls = 0;
  const Variable out = recompute(
      [&](const Inputs& in) {
        return ++calls == 1 ? mean_square(in[0]) : reshape(mean_square(in[0]), {1});
      },
      {x});
  EXPECT_THAT(refusal(out), HasSubstr("the second time"));
  EXPECT_THROW(recompute([](const Inputs&) { return Variable(); }, {x}), InvalidArgument);
}

TEST(Recompute, AFailureInsideLeavesNothingBehind) {
  Variable x = parameter({4}, 1);
  const Variable start = scale(x, 2);
  int calls = 0;
  const Variable broken = recompute(
      [&](const Inputs& in) {
        if (++calls == 2) throw std::runtime_error("the second time");
        return sum(in[0]);
      },
      {start});
  EXPECT_THROW(backward(add(broken, sum(start))), std::runtime_error);
  x.clear_grad();
  backward(sum(start));
  EXPECT_EQ(values_of(x.grad().view()), (std::vector<double>{2, 2, 2, 2}));
}

}  // namespace
}  // namespace volvelle
