// The check of attention's contract, checked: sound attention passes on every route, each control
// fails, and attention that is broken in one known way fails the property that names it.
#include "volvelle/check/attention_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"
#include "volvelle/check/property_report.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The library's attention on a problem that was changed first.
template <class Change>
AttentionOperation changed(Change change) {
  return {.attend = [change](AttentionProblem problem, const AttentionRequest& request,
                             const AttentionOptions& options) {
    change(problem);
    return attend(problem, request, options);
  }};
}

// One property on one route, to be quick.
PropertyReport report_of(const std::string& property, AttentionOperation operation) {
  PropertyOptions options;
  options.property = property;
  options.path = AttentionPath::fused;
  options.simd = simd_targets().front();
  options.operation = std::move(operation);
  return check_attention(options);
}

void expect_caught(const std::string& property, AttentionOperation broken) {
  const PropertyReport report = report_of(property, std::move(broken));
  EXPECT_FALSE(report.holds()) << property;
  ASSERT_FALSE(report.rows.empty());
  for (const PropertyRow& row : report.rows) {
    EXPECT_EQ(row.verdict, PropertyVerdict::fails) << property;
    EXPECT_GT(row.error, row.tolerance) << property;
  }
}

TEST(AttentionProperties, HoldOnEveryRouteAndEveryControlFails) {
  const PropertyReport report = check_attention();
  EXPECT_TRUE(report.holds());
  EXPECT_TRUE(report.complete);
  std::set<std::vector<std::string>> measured;
  for (const PropertyRow& row : report.rows) {
    EXPECT_EQ(row.verdict, PropertyVerdict::holds)
        << row.property << " " << row.path << " " << row.simd << " " << row.control << ": "
        << row.error << " and " << row.control_error << ", allowed " << row.tolerance << row.note;
    EXPECT_LE(row.error, row.tolerance);
    EXPECT_GT(row.control_error, row.tolerance);
    measured.insert({row.property, row.control, row.path, row.path == "fused" ? row.simd : ""});
  }
  EXPECT_EQ(measured.size(), report.rows.size()) << "a row twice";
  for (const PropertyRefusal& each : report.refused) {
    ADD_FAILURE() << each.property << " on " << each.path << ": " << each.reason;
  }
  for (const PropertyEntry& entry : attention_properties()) {
    EXPECT_FALSE(entry.controls.empty()) << entry.name;
    for (const std::string& control : entry.controls) {
      for (const std::string& target : simd_targets()) {
        EXPECT_TRUE(measured.contains({entry.name, control, "fused", target})) << entry.name;
      }
      EXPECT_TRUE(measured.contains({entry.name, control, "composed", ""})) << entry.name;
    }
  }
}

TEST(AttentionProperties, HoldForOtherNumbersToo) {
  for (const std::uint64_t seed : {2u, 77u, 123456789u}) {
    PropertyOptions options;
    options.seed = seed;
    options.path = AttentionPath::composed;
    EXPECT_TRUE(check_attention(options).holds()) << property_text(check_attention(options));
  }
}

TEST(AttentionProperties, CatchAForgottenScale) {
  const auto broken = [](AttentionProblem& p) {
    if (!p.scale) p.scale = 1;
  };
  expect_caught("scaling", changed(broken));
  expect_caught("agreement", changed(broken));
}

TEST(AttentionProperties, CatchWrongExclusion) {
  expect_caught("windows", changed([](AttentionProblem& p) { p.window += p.window > 0 ? 1 : 0; }));
  expect_caught("causality", changed([](AttentionProblem& p) { p.causal = false; }));
  expect_caught("packing",
                changed([](AttentionProblem& p) { p.query_segments = p.key_segments = {}; }));
  expect_caught("padding", changed([](AttentionProblem& p) {
                  p.key_lengths = {};
                  p.padding = Padding::right;
                }));
  expect_caught("prefix", changed([](AttentionProblem& p) { p.prefix = 0; }));
  expect_caught("chunks", changed([](AttentionProblem& p) { p.chunk += p.chunk > 0 ? 1 : 0; }));
  expect_caught("step-by-step", changed([](AttentionProblem& p) { p.causal = false; }));
}

TEST(AttentionProperties, CatchMissingScoreTerms) {
  expect_caught("biases", changed([](AttentionProblem& p) { p.slopes = {}; }));
  expect_caught("biases", changed([](AttentionProblem& p) { p.bias_table = {}; }));
  expect_caught("soft-cap", changed([](AttentionProblem& p) { p.softcap *= 1.01; }));
  expect_caught("sinks", changed([](AttentionProblem& p) { p.sinks = {}; }));
  expect_caught("permutation", changed([](AttentionProblem& p) { p.key_positions = {}; }));
}

// Bits: the first key's product is left to the thread count.
TEST(AttentionProperties, CatchBitsThatDependOnThreads) {
  expect_caught("threads",
                {.attend = [](const AttentionProblem& problem, const AttentionRequest& request,
                              const AttentionOptions& options) {
                  AttentionResult result = attend(problem, request, options);
                  float& element = result.output.data<float>()[0];
                  if (options.threads == 5) element = std::nextafter(element, 100.0F);
                  return result;
                }});
}

TEST(AttentionProperties, CatchNonFiniteAnswers) {
  expect_caught("shift",
                {.attend = [](const AttentionProblem& problem, const AttentionRequest& request,
                              const AttentionOptions& options) {
                  AttentionResult result = attend(problem, request, options);
                  if (result.lse.data<float>()[0] > 1000) {
                    result.output.data<float>()[3] = std::nanf("");
                  }
                  return result;
                }});
}

// Gradients of the operation under test are measured, not the library's.
TEST(AttentionProperties, CatchWrongGradients) {
  const auto spoilt = [](auto&& spoil) {
    AttentionOperation operation;
    operation.attend_backward = [spoil](const AttentionProblem& problem,
                                        const AttentionSaved& saved, const View& grad_output,
                                        const AttentionOptions& how) {
      AttentionGradientResult result =
          attend_backward(problem, saved, grad_output, AttentionGradientRequest{}, how);
      spoil(result, how);
      return result;
    };
    return operation;
  };
  const auto one_element = spoilt([](AttentionGradientResult& result, const AttentionOptions&) {
    float* element = result.k.data<float>() + result.k.size() / 2;
    *element = *element * 1.1F + 1e-3F;
  });
  expect_caught("gradients", one_element);
  const auto none = spoilt(
      [](AttentionGradientResult& result, const AttentionOptions&) { result.bias = Tensor(); });
  expect_caught("gradients", none);
  expect_caught("grad-agreement", none);
  expect_caught("grad-agreement", one_element);
  expect_caught("grad-unseen", spoilt([](AttentionGradientResult& result, const AttentionOptions&) {
                  result.q.data<float>()[0] = 1e-30F;  // query 0 sees nothing
                }));
  expect_caught("grad-threads",
                spoilt([](AttentionGradientResult& result, const AttentionOptions& how) {
                  float& element = result.v.data<float>()[7];
                  if (how.threads == 3) element = std::nextafter(element, 100.0F);
                }));
}

// Attention over the cache is that of the operation under test as well.
TEST(AttentionProperties, CatchWrongAttentionOverACache) {
  AttentionOperation broken;
  broken.attend_cached = [](AttentionProblem problem, const KeyValueCache& cache,
                            std::span<const Sequence> sequences, const AttentionOptions& how) {
    problem.window = 0;
    return attend(problem, cache, sequences, AttentionRequest{}, how);
  };
  expect_caught("cache", broken);
  broken.attend_cached = [](const AttentionProblem& problem, const KeyValueCache& cache,
                            std::span<const Sequence> sequences, const AttentionOptions& how) {
    std::vector<Sequence> first(sequences.size(), sequences[0]);
    return attend(problem, cache, first, AttentionRequest{}, how);
  };
  expect_caught("cache-forks", broken);
}

TEST(AttentionProperties, CatchAFaultOfOneInstructionSetAlone) {
  const std::string faulty = simd_targets().back();
  PropertyOptions options;
  options.property = "softmax";
  options.operation = {.attend = [faulty](const AttentionProblem& problem,
                                          const AttentionRequest& request,
                                          const AttentionOptions& how) {
    AttentionResult result = attend(problem, request, how);
    if (how.path == AttentionPath::fused && simd_target() == faulty) {
      result.output.data<float>()[0] += 1e-3F;
    }
    return result;
  }};
  for (const PropertyRow& row : check_attention(options).rows) {
    const bool is_faulty = row.path == "fused" && row.simd == faulty;
    EXPECT_EQ(row.verdict == PropertyVerdict::fails, is_faulty) << row.path << row.simd;
  }
}

// What is thrown is a failure that says what was thrown, not the end of the check.
TEST(AttentionProperties, TakeAThrowForAFailure) {
  const PropertyReport report = report_of(
      "sinks", {.attend = [](const AttentionProblem& problem, const AttentionRequest& request,
                             const AttentionOptions& options) -> AttentionResult {
        if (problem.sinks) throw InvalidArgument("[attend] no sinks here");
        return attend(problem, request, options);
      }});
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].verdict, PropertyVerdict::fails);
  EXPECT_EQ(report.rows[0].note, "[attend] no sinks here");
  EXPECT_TRUE(std::isinf(report.rows[0].error));
  // Where the line breaks depends on the length of the instruction set's name.
  EXPECT_THAT(property_text(report),
              ::testing::ContainsRegex("allowed \\(\\[attend\\][[:space:]]+no[[:space:]]+sinks"));
  EXPECT_THAT(property_text(report), HasSubstr("FAILS\n"));
  std::ostringstream json;
  write_property_json(json, report);
  EXPECT_THAT(json.str(), HasSubstr("\"error\": 1e+308"));
  EXPECT_THAT(json.str(), HasSubstr("\"note\": \"[attend] no sinks here\""));
}

// A forced path may refuse: the composed path is there for what the fused one cannot.
TEST(AttentionProperties, TakeUnsupportedForARefusal) {
  PropertyOptions options;
  options.property = "sinks";
  options.operation.attend = [](const AttentionProblem& problem, const AttentionRequest& request,
                                const AttentionOptions& how) -> AttentionResult {
    if (how.path == AttentionPath::fused) throw Unsupported("[attend] no tiles today");
    return attend(problem, request, how);
  };
  const PropertyReport report = check_attention(options);
  EXPECT_TRUE(report.holds());
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].path, "composed");
  ASSERT_EQ(report.refused.size(), simd_targets().size());
  EXPECT_EQ(report.refused[0].reason, "[attend] no tiles today");
  EXPECT_THAT(property_text(report), HasSubstr("  fused, sinks: [attend] no tiles today\n"));
  std::ostringstream json;
  write_property_json(json, report);
  EXPECT_THAT(json.str(), HasSubstr("\"reason\": \"[attend] no tiles today\""));
}

// Attention without any bias by position is blind to positions: the property holds, but so does
// its control, and the check says that it shows nothing.
TEST(AttentionProperties, SayWhenTheControlPasses) {
  const PropertyReport report = report_of("offsets-only", changed([](AttentionProblem& p) {
                                            p.slopes = p.bias_table = p.bucket_table = {};
                                            p.buckets = Buckets::none;
                                            p.max_distance = 128;
                                            p.query_positions = p.key_positions = {};
                                          }));
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].verdict, PropertyVerdict::control_passes);
  EXPECT_FALSE(report.holds());
  EXPECT_THAT(property_text(report), HasSubstr("its control, positions dropped, passes"));
  EXPECT_THAT(property_text(report), HasSubstr("BLIND\n"));
  EXPECT_THAT(property_text(report), Not(HasSubstr("control fails on")));
}

TEST(AttentionProperties, GiveTheSameNumbersAgain) {
  const auto numbers = [] {
    std::ostringstream out;
    write_property_json(out, report_of("agreement", {}));
    return out.str();
  };
  EXPECT_EQ(numbers(), numbers());
}

TEST(AttentionProperties, LeaveTheInstructionSetAsItWas) {
  set_simd_target(simd_targets().back());
  report_of("scaling", {});
  EXPECT_EQ(simd_target(), simd_targets().back());
  set_simd_target("best");
}

TEST(AttentionProperties, StopWhenTold) {
  PropertyOptions options;
  std::vector<std::string> begun;
  options.begins = [&](const std::string& name) { begun.push_back(name); };
  options.stopped = [&] { return begun.size() == 2; };
  const PropertyReport report = check_attention(options);
  EXPECT_FALSE(report.complete);
  ASSERT_FALSE(report.rows.empty());
  for (const PropertyRow& row : report.rows) EXPECT_EQ(row.property, begun[0]);
  EXPECT_THAT(property_text(report), HasSubstr("Stopped early"));
  options.stopped = [] { return true; };
  EXPECT_THAT(property_text(check_attention(options)), HasSubstr("Nothing was measured"));
}

TEST(AttentionProperties, RefuseWhatDoesNotExist) {
  const auto with = [](auto&& set) {
    PropertyOptions options;
    set(options);
    return options;
  };
  EXPECT_THROW(check_attention(with([](PropertyOptions& o) { o.property = "beauty"; })),
               InvalidArgument);
  EXPECT_THROW(check_attention(with([](PropertyOptions& o) { o.simd = "mmx"; })), InvalidArgument);
  EXPECT_THROW(check_attention(with([](PropertyOptions& o) { o.threads = -1; })), InvalidArgument);
  EXPECT_THROW(check_attention(with([](PropertyOptions& o) { o.path = AttentionPath::oracle; })),
               InvalidArgument);
  EXPECT_THROW(check_attention(with([](PropertyOptions& o) {
                 o.path = AttentionPath::composed;
                 o.simd = simd_targets().front();
               })),
               InvalidArgument);
}

}  // namespace
}  // namespace volvelle
