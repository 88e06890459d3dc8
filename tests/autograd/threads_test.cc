// Several threads at once, each with a tape of its own.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "ops/pass_on.h"
#include "support/arrays.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

using testing::listed;
using testing::values_of;

Variable chain(const Variable& x, int length) {
  Variable end = x;
  for (int i = 0; i < length; ++i) {
    end = record("link", end.value(), {end, end}, [end = Saved(end)](GradientPass& pass) {
      (void)end.view("link");
      Tensor gradient = pass.take_grad_output();
      pass_on(pass, 0, gradient);
      pass_on(pass, 1, gradient);
    });
  }
  return end;
}

TEST(TapesOfThreads, DoNotMeet) {
  std::vector<std::thread> threads;
  std::vector<double> gradients(4);
  for (std::size_t t = 0; t < gradients.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const Variable x(listed(DType::float32, {1}, {1}), true);
        {
          const NoGrad off;  // of this thread alone
          EXPECT_TRUE(chain(x, 3).is_leaf());
        }
        backward(chain(x, 8 + static_cast<int>(t)));
        gradients[t] = values_of(x.grad().view())[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gradients, (std::vector<double>{256, 512, 1024, 2048}));
}

// A parameter that threads only read may get what is derived from it by any of them.
TEST(TapesOfThreads, MayShareAVariableThatTheyOnlyRead) {
  const Variable shared(listed(DType::float32, {1}, {1}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        std::shared_ptr<const void> derived = shared.derived();
        if (derived == nullptr) {
          derived = std::make_shared<int>(5);
          shared.keep_derived(derived);
        }
        EXPECT_EQ(*static_cast<const int*>(derived.get()), 5);
        EXPECT_FALSE(chain(shared, 2).requires_grad());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace volvelle
