#include "volvelle/report/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

TEST(ReportJson, NumbersRoundTripByType) {
  std::ostringstream out;
  JsonWriter json(out);
  json.begin_array().value(0.1f).value(0.1).value(std::int64_t{-9007199254740993}).end_array();
  EXPECT_EQ(out.str(), "[0.1, 0.1, -9007199254740993]\n");

  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    const float number =
        std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 60) - 80);
    std::ostringstream one;
    JsonWriter(one).value(number);
    EXPECT_EQ(static_cast<float>(nlohmann::json::parse(one.str()).get<double>()), number);
  }
}

TEST(ReportJson, WhatIsNotFiniteIsNull) {
  std::ostringstream out;
  JsonWriter json(out);
  json.begin_array()
      .value(std::numeric_limits<float>::infinity())
      .value(-std::numeric_limits<double>::infinity())
      .value(std::numeric_limits<double>::quiet_NaN())
      .null()
      .end_array();
  EXPECT_EQ(out.str(), "[null, null, null, null]\n");
}

TEST(ReportJson, DocumentsNest) {
  std::ostringstream out;
  JsonWriter json(out);
  json.begin_object();
  json.key("a").value("x\"\\\n\t\x01\x7f");
  json.key("b").begin_array().begin_object().key("c").value(true).end_object();
  json.begin_object().end_object().end_array();
  json.key("d").begin_array().begin_array().value(1).value(2).end_array().end_array();
  json.end_object();
  const nlohmann::json read = nlohmann::json::parse(out.str());
  EXPECT_EQ(read["a"], "x\"\\\n\t\x01\x7f");
  EXPECT_EQ(read["b"][0]["c"], true);
  EXPECT_EQ(read["b"].size(), 2u);
  EXPECT_EQ(read["d"], nlohmann::json::parse("[[1,2]]"));
}

TEST(ReportJson, BytesThatAreNoUtf8DoNotSpoilTheDocument) {
  std::ostringstream out;
  JsonWriter(out).value("a\xff\xc3\x28\xe2\x82\xac\xed\xa0\x80");
  EXPECT_EQ(nlohmann::json::parse(out.str()),
            std::string("a?") + "?(\xe2\x82\xac" + "?" + "?" + "?");
}

TEST(ReportJson, CallsThatMakeNoDocumentThrow) {
  std::ostringstream out;
  EXPECT_THROW(JsonWriter(out).begin_object().value(1), InternalError);
  EXPECT_THROW(JsonWriter(out).begin_array().key("a"), InternalError);
  EXPECT_THROW(JsonWriter(out).begin_array().end_object(), InternalError);
  EXPECT_THROW(JsonWriter(out).begin_object().key("a").end_object(), InternalError);
  JsonWriter twice(out);
  twice.value(1);
  EXPECT_THROW(twice.value(2), InternalError);
}

}  // namespace
}  // namespace volvelle
