#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/refusal.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

constexpr PositionContext kModel{.width = 64, .heads = 4};

std::string made(const char* text, PositionContext model = kModel) {
  return refusal([&] { make_positions(text, model); });
}

TEST(T5, GivesBucketsByDirectionOfTheModel) {
  const auto entered = [](const char* text, bool causal) {
    PositionContext model = kModel;
    model.causal = causal;
    AttendVariableOptions options;
    make_positions(text, model)->enter(options, {});
    return options;
  };
  const AttendVariableOptions causal = entered("t5", true);
  EXPECT_EQ(causal.rules.buckets, Buckets::one_way);
  EXPECT_EQ(causal.rules.max_distance, 128);
  EXPECT_EQ(causal.bucket_table.shape(), (Shape{4, 32}));
  EXPECT_EQ(entered("t5", false).rules.buckets, Buckets::two_way);
  EXPECT_EQ(entered("t5(direction=two-way)", true).rules.buckets, Buckets::two_way);
  const AttendVariableOptions small = entered("t5(buckets=8, max=20)", true);
  EXPECT_EQ(small.rules.max_distance, 20);
  EXPECT_EQ(small.bucket_table.shape(), (Shape{4, 8}));
}

TEST(T5, IsOneTableForAllLayers) {
  const auto scheme = make_positions("t5", kModel);
  EXPECT_TRUE(scheme->facts().shared_by_layers);
  EXPECT_EQ(scheme->parameters()[0].name, "weight");
  EXPECT_EQ(scheme->facts().parameters, 4 * 32);
}

TEST(T5, RefusesBucketsThatDoNotFit) {
  EXPECT_THAT(made("t5(buckets=1)"), HasSubstr("one-way needs at least 2"));
  EXPECT_THAT(made("t5(buckets=5, direction=two-way)"), HasSubstr("two-way needs an even count"));
  EXPECT_THAT(made("t5(max=16)"), HasSubstr("max_distance 16 must exceed the 16"));
  EXPECT_THAT(made("t5(direction=both)"), HasSubstr("must be one of one-way, two-way"));
}

TEST(Clamped, HasOneNumberPerHeadAndOffset) {
  AttendVariableOptions options;
  const auto scheme = make_positions("clamped(max=3)", kModel);
  scheme->enter(options, {});
  EXPECT_EQ(options.bias_table.shape(), (Shape{4, 7}));
  EXPECT_TRUE(options.bias_table.requires_grad());
  EXPECT_EQ(scheme->facts().parameters, 28);
  EXPECT_THAT(made("clamped(max=0)"), HasSubstr("max=0 must be an integer of 1 or more"));
  EXPECT_THAT(made("clamped(max=2000000000)"), HasSubstr("beyond 2^30"));
}

TEST(Relative, GivesVectorsToWhatIsAsked) {
  const auto entered = [](const char* text) {
    AttendVariableOptions options;
    make_positions(text, kModel)->enter(options, {});
    return options;
  };
  const AttendVariableOptions keys = entered("relative(max=3)");
  EXPECT_EQ(keys.relative_keys.shape(), (Shape{7, 16}));
  EXPECT_FALSE(keys.relative_queries);
  EXPECT_FALSE(keys.relative_values);
  const AttendVariableOptions all = entered("relative(max=2, queries=yes, values=yes, shared=no)");
  EXPECT_EQ(all.relative_keys.shape(), (Shape{4, 5, 16}));
  EXPECT_EQ(all.relative_queries.shape(), (Shape{4, 5, 16}));
  EXPECT_EQ(all.relative_values.shape(), (Shape{4, 5, 16}));
  const AttendVariableOptions values = entered("relative(keys=no, values=yes)");
  EXPECT_FALSE(values.relative_keys);
  EXPECT_TRUE(values.relative_values.requires_grad());
  EXPECT_THAT(made("relative(keys=no)"), HasSubstr("all no; use none"));
  EXPECT_THAT(made("relative(max=2000000000)"), HasSubstr("beyond 2^30"));
}

TEST(Relative, NamesItsParameters) {
  const auto scheme = make_positions("relative(max=2, queries=yes, values=yes)", kModel);
  std::string names;
  for (const NamedParameter& one : scheme->parameters()) names += one.name + " ";
  EXPECT_EQ(names, "keys queries values ");
  EXPECT_EQ(scheme->facts().parameters, 3 * 5 * 16);
}

TEST(OffsetTables, StartAsT5sRuleSays) {
  for (const char* text : {"t5(buckets=1024, max=4096)", "clamped(max=512)", "relative(max=64)"}) {
    SCOPED_TRACE(text);
    const auto scheme = make_positions(text, kModel);
    for (const Initialization rule : {Initialization::torch, Initialization::normal}) {
      const auto initializer = make_initializer({.scheme = rule});
      scheme->initialize(*initializer);
      const Tensor table = scheme->parameters()[0].variable.value();
      double squares = 0;
      for (std::int64_t i = 0; i < table.size(); ++i) {
        squares += std::pow(table.data<float>()[i], 2);
      }
      EXPECT_NEAR(std::sqrt(squares / static_cast<double>(table.size())), 1.0 / 8, 0.01);
    }
  }
}

}  // namespace
}  // namespace volvelle
