// Studies as JSON and CSV.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "support/sample_study.h"
#include "volvelle/base/error.h"
#include "volvelle/report/json_members.h"
#include "volvelle/report/study_report.h"

namespace volvelle::testing {
namespace {

nlohmann::json json_of(const StudyResult& result) {
  std::ostringstream out;
  write_study_json(out, result);
  return nlohmann::json::parse(out.str());
}

TEST(StudyJson, HasFactsTablesControlAndWords) {
  const nlohmann::json json = json_of(sample_study());
  EXPECT_EQ(json["study"], "sample");
  EXPECT_EQ(json["question"], "Does a longer lever lift more?");
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["setup"]["lever"], "oak");
  EXPECT_EQ(json["weights"], 3);
  EXPECT_EQ(json["mean"], 1.5);
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][0], nlohmann::json::parse(R"({"length": 1, "lift": 0.1, "share": 0.25,
      "held": true, "note": "a \"first\", try", "samples": [0.5, 1]})"));
  EXPECT_TRUE(json["rows"][1]["note"].is_null());
  EXPECT_TRUE(json["layers"][0]["norm"].is_null());
  EXPECT_EQ(json["control"]["check"], "it lifts more than 1 kg.");
  EXPECT_EQ(json["control"]["failed"], true);
  EXPECT_EQ(json["control"]["rows"][0]["lift"], 0);
  EXPECT_EQ(json["controls_failed"], true);
  EXPECT_FALSE(json.contains("further_controls"));
  EXPECT_EQ(json["reading"][0], "Longer lifts more.");
  EXPECT_EQ(json["limits"].size(), 1u);
  EXPECT_EQ(json["charts"].size(), 3u);
  EXPECT_EQ(json["charts"][0]["series"][0]["high"], nlohmann::json::parse("[2, 20, 200]"));
  EXPECT_EQ(json["charts"][2]["cells"][1], nlohmann::json::parse("[1, null]"));
}

TEST(StudyJson, SaysWhenAnyControlDidNotFailAndWhenNoneWasRun) {
  StudyResult result = sample_study();
  result.controls.push_back(result.controls[0]);
  result.controls[1].failed = false;
  nlohmann::json json = json_of(result);
  EXPECT_EQ(json["control"]["failed"], true);
  EXPECT_EQ(json["further_controls"][0]["failed"], false);
  EXPECT_EQ(json["controls_failed"], false);
  result.controls.clear();
  json = json_of(result);
  EXPECT_TRUE(json["control"].is_null());
  EXPECT_TRUE(json["controls_failed"].is_null());
}

TEST(StudyJson, TwoMembersOfOneNameAreRefused) {
  StudyResult result = sample_study();
  result.facts.push_back({"rows", 1.0});
  EXPECT_THROW(json_of(result), InternalError);
  result = sample_study();
  result.tables[0].columns[1].key = "length";
  EXPECT_THROW(json_of(result), InternalError);
}

TEST(StudyJson, CellsAndTablesStandInOtherDocumentsAsInThis) {
  const StudyTable table = sample_study().tables[0];
  std::ostringstream out;
  JsonWriter json(out);
  JsonMembers members(json);
  write_study_table(members["rows"], table);
  write_study_cell(members["none"], {});
  write_study_cell(members["list"], std::vector<double>{0.5, 1});
  EXPECT_THROW(members["list"], InternalError);
  members.end();
  const nlohmann::json read = nlohmann::json::parse(out.str());
  EXPECT_EQ(read["rows"], json_of(sample_study())["rows"]);
  EXPECT_TRUE(read["none"].is_null());
  EXPECT_EQ(read["list"], nlohmann::json::parse("[0.5, 1]"));
}

TEST(StudyJson, RowsOfATableCannotHaveTwoMembersOfOneName) {
  StudyTable table = sample_study().tables[0];
  table.columns[1].key = table.columns[0].key;
  std::ostringstream out;
  JsonWriter json(out);
  EXPECT_THROW(write_study_table(json, table), InternalError);
}

TEST(StudyCsv, QuotesWhatItMustAndKeepsNumbersInFull) {
  StudyResult result = sample_study();
  result.tables[0].rows[0][1] = 0.1 + 0.2;
  EXPECT_EQ(study_csv(result.tables[0]),
            "length,lift,share,held,note,samples\n"
            "1,0.30000000000000004,0.25,true,\"a \"\"first\"\", try\",0.5 1\n"
            "2,0.0801,0.775,false,,\n");
  EXPECT_EQ(study_csv(result.tables[1]), "layer,norm\n1,nan\n");
}

TEST(StudyCsv, FurtherTablesHaveTheirKeyInTheirFilesName) {
  StudyResult result = sample_study();
  result.controls.push_back(result.controls[0]);
  std::vector<std::string> names;
  for (const auto& [name, text] : study_csv_files(result, "a.b/out.csv")) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"a.b/out.csv", "a.b/out.layers.csv",
                                      "a.b/out.control.rows.csv", "a.b/out.control-2.rows.csv"}));
}

}  // namespace
}  // namespace volvelle::testing
