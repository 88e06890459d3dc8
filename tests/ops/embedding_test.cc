#include "volvelle/ops/embedding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support/arrays.h"
#include "support/golden_arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/ops/linear_variable.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::GoldenArrays;
using testing::normal_input;
using testing::values_of;

Variable table_of(const Shape& shape, DType dtype = DType::float32) {
  return Variable(converted(normal_input(shape, 1).view(), dtype), true);
}

TEST(Embedding, GradientsAreTheDifferences) {
  const std::int64_t ids[] = {3, 0, 3, 3, 1, 0};
  for (const View& view :
       {View(ids, {6}), View(ids, {2, 3}), View(ids, {1, 1, 1}), View(ids, {})}) {
    for (const std::int64_t width : {1, 5, 17}) {
      expect_gradients([&](const std::vector<Variable>& in) { return embedding(view, in[0]); },
                       {normal_input({5, width}, 1)});
    }
  }
  // Where the table is the output head as well.
  expect_gradients(
      [&](const std::vector<Variable>& in) {
        return linear(embedding(View(ids, {2, 3}), in[0]), in[0]);
      },
      {normal_input({5, 4}, 1)});
}

class EmbeddingSimd : public testing::OnEveryInstructionSet {};

TEST_P(EmbeddingSimd, IsPyTorchsForwardAndBackward) {
  const GoldenArrays golden("products/products.npz");
  for (const DType dtype : {DType::float64, DType::float32}) {
    Variable table(golden.get("embedding.table", dtype), true);
    const Tensor ids = golden.get("embedding.ids", DType::int32);
    const Variable y = embedding(ids.view(), table);
    backward(y, golden.get("embedding.grad_y", dtype).view());
    EXPECT_EQ(golden.difference("embedding.y", y.view()), "");
    EXPECT_EQ(golden.difference("embedding.grad_table", table.grad().view()), "");
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, EmbeddingSimd);

TEST(Embedding, TakesAnyIntegersOfAnyStrides) {
  const Variable table = table_of({7, 3});
  const std::uint8_t ids[] = {6, 9, 2, 9, 0, 9, 5, 9};
  const Variable y = embedding(View(ids, {2, 2}, {2, 4}), table);
  const std::vector<double> rows = values_of(table.view()), found = values_of(y.view());
  const std::size_t wanted[] = {6, 0, 2, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(found[i * 3 + c], rows[wanted[i] * 3 + c]);
  }
  EXPECT_EQ(embedding(View(ids, {0, 4}), table).shape(), (Shape{0, 4, 3}));
}

// Rows that no token met have a gradient of 0, whatever the memory held.
TEST(Embedding, GradientIsDenseAndAddsUp) {
  Variable table = table_of({4, 2});
  const Tensor storage = testing::filled(DType::float32, {4, 2}, [] { return 77; });
  table.bind_grad(storage);
  const std::int32_t ids[] = {2, 2};
  const float ones[] = {1, 1, 1, 1};
  backward(embedding(View(ids, {2}), table), View(ones, {2, 2}));
  EXPECT_EQ(values_of(storage.view()), (std::vector<double>{0, 0, 0, 0, 2, 2, 0, 0}));
  backward(embedding(View(ids, {2}), table), View(ones, {2, 2}));
  EXPECT_EQ(values_of(storage.view()), (std::vector<double>{0, 0, 0, 0, 4, 4, 0, 0}));
}

// Terms of very different sizes: any other order gives other bits.
TEST(Embedding, AddsInTheOrderOfTokensOnAnyNumberOfThreads) {
  const std::int64_t tokens = 900, width = 150;
  std::vector<std::int64_t> ids(tokens);
  std::vector<float> grad(static_cast<std::size_t>(tokens * width));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i * i % 5);
  for (std::size_t i = 0; i < grad.size(); ++i) {
    grad[i] = static_cast<float>(i % 97) * (i % 11 == 0 ? 1e6f : 1e-3f);
  }
  std::vector<float> right(5 * static_cast<std::size_t>(width));
  for (std::size_t t = 0; t < ids.size(); ++t) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(width); ++c) {
      right[static_cast<std::size_t>(ids[t] * width) + c] +=
          grad[t * static_cast<std::size_t>(width) + c];
    }
  }
  for (const int threads : {1, 2, 8}) {
    const ThreadScope scope(threads);
    Variable table = table_of({5, width});
    backward(embedding(View(ids.data(), {tokens}), table), View(grad.data(), {tokens, width}));
    EXPECT_EQ(std::memcmp(table.grad().raw(), right.data(), right.size() * sizeof(float)), 0)
        << threads;
  }
}

TEST(Embedding, InBfloat16) {
  Variable table = table_of({3, 2}, DType::bfloat16);
  const std::int64_t ids[] = {1, 1, 0};
  const Variable y = embedding(View(ids, {3}), table);
  EXPECT_EQ(y.dtype(), DType::bfloat16);
  const Tensor ones = testing::filled(DType::bfloat16, {3, 2}, [] { return 1; });
  backward(y, ones.view());
  EXPECT_EQ(values_of(table.grad().view()), (std::vector<double>{1, 1, 2, 2, 0, 0}));
}

TEST(Embedding, BadInput) {
  const Variable table = table_of({4, 2});
  const auto refused = [](const std::function<void()>& run, const std::string& message) {
    try {
      run();
      ADD_FAILURE() << "nothing was thrown; expected: " << message;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  const std::int64_t ids[] = {0, 1, 4, -1};
  const float floats[] = {0, 1};
  refused([&] { embedding(View(ids, {3, 1}), table); },
          "[embedding] id 4 at (2,0) of ids (3,1) is outside [0, 4), the rows of table (4,2)");
  refused([&] { embedding(View(ids + 3, {1}), table); }, "id -1 at (0,) of ids (1,)");
  const std::uint64_t huge[] = {std::uint64_t{1} << 63};
  refused([&] { embedding(View(huge, {1}), table); }, "is outside [0, 4)");
  refused([&] { embedding(View(floats, {2}), table); }, "ids are float32; they must be integers");
  refused([&] { embedding(View(), table); }, "ids are missing");
  refused([&] { embedding(View(ids, {2}), {}); }, "[embedding] table");
  refused([&] { embedding(View(ids, {2}), table_of({4})); }, "table (4,) must have shape (V,C)");
  refused([&] { embedding(View(ids, {2}), Variable(Tensor::zeros(DType::float16, {4, 2}))); },
          "table");
  refused([&] { embedding(View(ids, Axes::filled(8, 1)), table); }, "as many axes as");
  refused([&] { embedding(View(static_cast<const std::int64_t*>(nullptr), {2}), table); },
          "ids (2,) has elements but its pointer is null");
}

}  // namespace
}  // namespace volvelle
