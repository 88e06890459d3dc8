// The check of position schemes, checked: sound models pass under every scheme, each control fails,
// and models that are run in one known wrong way fail the property that names it.
#include "volvelle/check/position_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/check/property_report.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

PropertyReport report_of(const std::string& property, const std::string& scheme,
                         const PositionOperation& operation) {
  PositionPropertyOptions options;
  options.property = property;
  options.scheme = scheme;
  options.operation = operation;
  return check_positions(options);
}

// A pass whose places were changed first.
template <class Change>
PositionOperation placed(Change change) {
  PositionOperation operation;
  operation.logits = [change](const LanguageModel& model, const View& ids, ForwardOptions how) {
    change(how);
    const NoGrad no_grad;
    return model.forward(ids, how).value();
  };
  return operation;
}

void expect_caught(const std::string& property, const std::string& scheme,
                   const PositionOperation& broken) {
  const PropertyReport report = report_of(property, scheme, broken);
  EXPECT_FALSE(report.holds()) << property;
  ASSERT_FALSE(report.rows.empty());
  for (const PropertyRow& row : report.rows) {
    EXPECT_EQ(row.verdict, PropertyVerdict::fails) << property << " of " << row.scheme;
    EXPECT_GT(row.error, row.tolerance) << property << " of " << row.scheme;
  }
}

const PropertyReport& whole_report() {
  static const PropertyReport kReport = check_positions();
  return kReport;
}

TEST(PositionProperties, HoldForEverySchemeAndEveryControlFails) {
  const PropertyReport& report = whole_report();
  EXPECT_TRUE(report.complete);
  std::set<std::vector<std::string>> measured;
  std::set<std::string> schemes, controls;
  for (const PropertyRow& row : report.rows) {
    EXPECT_EQ(row.verdict, PropertyVerdict::holds)
        << row.property << " of " << row.scheme << ", " << row.control << ": " << row.error
        << " and " << row.control_error << ", allowed " << row.tolerance << ' ' << row.note;
    EXPECT_GT(row.control_error, row.tolerance);
    measured.insert({row.property, row.control, row.scheme});
    schemes.insert(row.scheme);
    controls.insert(row.property + row.control);
  }
  EXPECT_EQ(measured.size(), report.rows.size()) << "a row twice";
  EXPECT_EQ(schemes.size(), position_settings().size());
  for (const PropertyEntry& entry : position_properties()) {
    for (const std::string& control : entry.controls) {
      EXPECT_TRUE(controls.contains(entry.name + control)) << "never measured: " << control;
    }
  }
}

// What everybody may ask of a scheme is measured for each of them.
TEST(PositionProperties, LeaveNoSchemeOfTheCatalogOut) {
  std::set<std::string> names;
  for (const std::string& setting : position_settings()) {
    if (setting.find('|') == std::string::npos) names.insert(parse_positions(setting).scheme);
  }
  for (const PositionEntry& entry : position_schemes()) {
    EXPECT_TRUE(names.contains(entry.name)) << entry.name;
  }
  const PropertyReport& report = whole_report();
  for (const std::string& setting : position_settings()) {
    for (const char* property : {"shift", "explicit", "order", "cache", "chunks", "padding",
                                 "packing", "gradients", "end"}) {
      EXPECT_TRUE(std::any_of(report.rows.begin(), report.rows.end(),
                              [&](const PropertyRow& row) {
                                return row.property == property && row.scheme == setting;
                              }))
          << property << " of " << setting;
    }
  }
}

TEST(PositionProperties, HoldForOtherNumbersToo) {
  PositionPropertyOptions options;
  options.seed = 77;
  const PropertyReport report = check_positions(options);
  EXPECT_TRUE(report.holds()) << property_text(report);
}

TEST(PositionProperties, CatchPositionsThatAreIgnored) {
  const PositionOperation broken = placed([](ForwardOptions& how) { how.tokens.positions = {}; });
  expect_caught("shift", "sinusoidal", broken);
  expect_caught("explicit", "rotary", broken);
  expect_caught("packing", "learned", broken);
}

TEST(PositionProperties, CatchMasksThatAreForgotten) {
  expect_caught("packing", "alibi", placed([](ForwardOptions& how) { how.tokens.segments = {}; }));
  expect_caught("padding", "t5", placed([](ForwardOptions& how) {
                  how.tokens.lengths = {};
                  how.tokens.padding = Padding::right;
                }));
}

TEST(PositionProperties, CatchASequenceThatIsReadFromTheWrongPlace) {
  PositionOperation broken;
  broken.extend = [](const LanguageModel& model, const View& ids, ModelCache& cache,
                     std::span<const Sequence> sequences, const ExtendOptions& how_much,
                     const ForwardOptions& how) {
    const std::vector<Sequence> first(sequences.size(), sequences.front());
    std::vector<Sequence> copies;
    for (const Sequence one : first) copies.push_back(cache.fork(one));
    const Tensor logits = model.extend(ids, cache, copies, how_much, how);
    model.extend(ids, cache, sequences, how_much, how);
    return logits;
  };
  for (const char* scheme : {"none", "rotary", "clamped"}) expect_caught("cache", scheme, broken);
}

TEST(PositionProperties, CatchAPairingThatIsNotConverted) {
  PositionOperation broken;
  broken.convert_pairing = [](const View& rows, RotaryPairing, RotaryPairing, const PackedHeads&) {
    return copy_of(rows);
  };
  expect_caught("pairing", "rotary", broken);
}

TEST(PositionProperties, CatchGradientsThatAreMissing) {
  PositionOperation broken;
  broken.gradients = [](const LanguageModel& model, const View&, const View&,
                        const ForwardOptions&) {
    std::vector<Tensor> zeros;
    for (const NamedParameter& one : model.parameters()) {
      zeros.push_back(Tensor::zeros(one.variable.dtype(), one.variable.shape()));
    }
    return zeros;
  };
  expect_caught("gradients", "none", broken);
}

TEST(PositionProperties, CatchATableWithoutAnEnd) {
  expect_caught("end", "learned", placed([](ForwardOptions& how) { how.tokens.positions = {}; }));
}

TEST(PositionProperties, WhatIsThrownBecomesARowThatFails) {
  PositionOperation broken;
  broken.logits = [](const LanguageModel&, const View&, const ForwardOptions&) -> Tensor {
    throw InvalidArgument("[mine] no");
  };
  const PropertyReport report = report_of("shift", "alibi", broken);
  ASSERT_FALSE(report.rows.empty());
  for (const PropertyRow& row : report.rows) {
    EXPECT_EQ(row.verdict, PropertyVerdict::fails);
    EXPECT_EQ(row.note, "[mine] no");
  }
  EXPECT_THAT(property_text(report), HasSubstr("[mine] no"));
}

TEST(PositionProperties, ASettingOfTheCallersOwn) {
  const PropertyReport report = report_of("shift", "rotary(base=37, partial=4)", {});
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].scheme, "rotary(base=37, partial=4)");
  EXPECT_TRUE(report.holds());
  EXPECT_EQ(report_of("shift", "rotary | alibi", {}).rows.size(), 1u);
}

TEST(PositionProperties, RefuseWhatTheyDoNotKnow) {
  EXPECT_THROW(report_of("shifty", "", {}), InvalidArgument);
  EXPECT_THROW(report_of("", "rotery", {}), InvalidArgument);
  EXPECT_THROW(report_of("", "rotary(bose=3)", {}), InvalidArgument);
  EXPECT_THROW(report_of("", "rotary(partial=10)", {}), InvalidArgument);
  PositionPropertyOptions options;
  options.threads = -1;
  EXPECT_THROW(check_positions(options), InvalidArgument);
}

TEST(PositionProperties, StopEarlyWithWhatThereIs) {
  PositionPropertyOptions options;
  int asked = 0;
  options.stopped = [&] { return ++asked > 3; };
  const PropertyReport report = check_positions(options);
  EXPECT_FALSE(report.complete);
  EXPECT_FALSE(report.rows.empty());
  EXPECT_THAT(property_text(report), HasSubstr("Stopped early"));
}

TEST(PositionProperties, JsonNamesTheScheme) {
  std::ostringstream out;
  write_property_json(out, report_of("order", "none", {}));
  EXPECT_THAT(out.str(), HasSubstr("\"scheme\": \"none\""));
  EXPECT_EQ(out.str().find("\"simd\""), std::string::npos);
}

}  // namespace
}  // namespace volvelle
