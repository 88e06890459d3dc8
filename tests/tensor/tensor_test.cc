#include "volvelle/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "support/arrays.h"
#include "tensor/convert.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::laid_out;
using testing::Layout;
using testing::listed;
using testing::values_of;

TEST(Tensor, IsContiguousAndAligned) {
  Tensor tensor(DType::float32, {3, 5});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.raw()) % 64, 0u);
  EXPECT_EQ(tensor.size(), 15);
  EXPECT_EQ(tensor.bytes(), 60u);
  EXPECT_EQ(tensor.view().strides(), (Strides{5, 1}));
}

TEST(Tensor, DefaultIsAbsent) {
  EXPECT_FALSE(Tensor());
  EXPECT_FALSE(Tensor().view());
  EXPECT_TRUE(Tensor(DType::int8, {0}));
}

TEST(Tensor, CopiesShareTheirBytes) {
  Tensor first = Tensor::zeros(DType::int32, {4});
  const Tensor second = first;
  first.data<std::int32_t>()[2] = 7;
  EXPECT_EQ(second.data<std::int32_t>()[2], 7);
}

TEST(Tensor, AdoptKeepsTheOwnerAlive) {
  auto memory = std::make_shared<std::vector<float>>(6, 2.5F);
  std::weak_ptr<std::vector<float>> watch = memory;
  Tensor tensor = Tensor::adopt(memory, memory->data(), DType::float32, {2, 3});
  memory.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(tensor.data<float>()[5], 2.5F);
  tensor = {};
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, AskingForAnotherTypeIsRefused) {
  Tensor tensor(DType::float32, {1});
  try {
    tensor.data<double>();
    FAIL() << "no throw";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("elements are float32, asked for as float64"));
  }
}

TEST(Tensor, SizesThatCannotBeAreRefused) {
  EXPECT_THROW(Tensor(DType::float32, {-1}), InvalidArgument);
  EXPECT_THROW(Tensor(DType::float64, {INT64_MAX}), InvalidArgument);
  try {
    Tensor(DType::int8, {std::int64_t{1} << 60});
    FAIL() << "no throw";
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), HasSubstr("1152921504606846976 bytes"));
  }
}

TEST(Tensor, CopyOfFollowsStrides) {
  const Tensor from = listed(
      DType::int16, {2, 3, 4},
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  for (const Layout layout :
       {Layout::contiguous, Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
    const auto other = laid_out(from, layout);
    EXPECT_EQ(values_of(copy_of(other.view).view()), values_of(from.view()));
  }
  const View broadcast(from.raw(), DType::int16, {2, 3}, {0, 0});
  EXPECT_EQ(values_of(copy_of(broadcast).view()), (std::vector<double>(6, 0)));
  const View scalar(from.data<std::int16_t>() + 5, {});
  EXPECT_EQ(values_of(copy_of(scalar).view()), (std::vector<double>{5}));
}

TEST(Tensor, ConvertedRoundsOnce) {
  // Just above the middle of 1 and its float16 successor: by way of float32 it would land on the
  // middle and then on the even neighbour, 1.
  const double above = 1 + 0x1p-11 + 0x1p-40;
  const Tensor from = listed(DType::float64, {1}, {above});
  EXPECT_EQ(element_as_double(converted(from.view(), DType::float16).view(), 0), 1 + 0x1p-10);
  EXPECT_EQ(element_as_double(converted(from.view(), DType::float32).view(), 0), 1 + 0x1p-11);
}

TEST(Tensor, ConvertedKeepsIntegersExact) {
  Tensor from(DType::int64, {2});
  from.data<std::int64_t>()[0] = (std::int64_t{1} << 60) + 1;
  from.data<std::int64_t>()[1] = -3;
  const Tensor to = converted(from.view(), DType::uint64);
  EXPECT_EQ(to.data<std::uint64_t>()[0], (std::uint64_t{1} << 60) + 1);
  const Tensor flags = converted(from.view(), DType::boolean);
  EXPECT_TRUE(flags.data<bool>()[1]);
}

TEST(Tensor, CopyBetweenShapesIsOurOwnFault) {
  Tensor a(DType::float32, {2}), b(DType::float32, {3});
  EXPECT_THROW(copy_elements(a.view(), b.mutable_view()), InternalError);
}

}  // namespace
}  // namespace volvelle
