#include "volvelle/report/json_members.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

void write_numbers(JsonWriter& json, const std::vector<double>& numbers) {
  json.begin_array();
  for (const double number : numbers) json.value(number);
  json.end_array();
}

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

struct CellWriter {
  JsonWriter& json;
  void operator()(std::monostate) const { json.null(); }
  void operator()(const std::vector<double>& list) const { write_numbers(json, list); }
  template <class Value>
  void operator()(const Value& value) const {
    json.value(value);
  }
};

void write_control(JsonWriter& json, const StudyControl& control) {
  JsonMembers members(json);
  members["what"].value(control.what);
  members["check"].value(control.check);
  members["failed"].value(control.failed);
  members["figures"].value(control.figures);
  for (const StudyTable& table : control.tables) write_study_table(members[table.key], table);
  members.end();
}

void write_controls(JsonMembers& members, const std::vector<StudyControl>& controls) {
  if (controls.empty()) {
    members["control"].null();
    members["controls_failed"].null();
    return;
  }
  write_control(members["control"], controls.front());
  bool failed = true;
  for (const StudyControl& control : controls) failed = failed && control.failed;
  if (controls.size() > 1) {
    JsonWriter& json = members["further_controls"].begin_array();
    for (std::size_t i = 1; i < controls.size(); ++i) write_control(json, controls[i]);
    json.end_array();
  }
  members["controls_failed"].value(failed);
}

void write_chart(JsonWriter& json, const StudyChart& chart) {
  const bool hands = chart.kind == StudyChart::Kind::hands;
  const bool map = hands || chart.kind == StudyChart::Kind::heat_map;
  JsonMembers members(json);
  members["key"].value(chart.key);
  members["kind"].value(hands                                  ? "hands"
                        : map                                  ? "heat_map"
                        : chart.kind == StudyChart::Kind::bars ? "bars"
                                                               : "lines");
  members["title"].value(chart.title);
  members["x_label"].value(chart.x_label);
  members["y_label"].value(chart.y_label);
  if (map || chart.kind == StudyChart::Kind::bars) write_texts(members["columns"], chart.columns);
  if (map) {
    write_texts(members["lines"], chart.lines);
    members["cells"].begin_array();
    for (const auto& line : chart.cells) write_numbers(json, line);
    json.end_array();
  } else {
    members["series"].begin_array();
    for (const StudySeries& series : chart.series) {
      JsonMembers parts(json);
      parts["label"].value(series.label);
      if (!series.x.empty()) write_numbers(parts["x"], series.x);
      write_numbers(parts["y"], series.y);
      if (!series.low.empty()) write_numbers(parts["low"], series.low);
      if (!series.high.empty()) write_numbers(parts["high"], series.high);
      parts.end();
    }
    json.end_array();
  }
  members.end();
}

}  // namespace

void write_study_cell(JsonWriter& json, const StudyCell& cell) {
  std::visit(CellWriter{json}, cell);
}

void write_study_table(JsonWriter& json, const StudyTable& table) {
  json.begin_array();
  for (const auto& row : table.rows) {
    JsonMembers members(json);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      JsonWriter& member = members[table.columns[c].key];
      write_study_cell(member, c < row.size() ? row[c] : StudyCell());
    }
    members.end();
  }
  json.end_array();
}

void write_study_json(std::ostream& out, const StudyResult& result) {
  JsonWriter json(out);
  JsonMembers members(json);
  members["study"].value(result.name);
  members["question"].value(result.question);
  members["complete"].value(result.complete);
  {
    members["setup"];
    JsonMembers setup(json);
    for (const auto& [name, value] : result.setup) setup[name].value(value);
    setup.end();
  }
  for (const auto& [key, value] : result.facts) write_study_cell(members[key], value);
  for (const StudyTable& table : result.tables) write_study_table(members[table.key], table);
  write_controls(members, result.controls);
  members["charts"].begin_array();
  for (const StudyChart& chart : result.charts) write_chart(json, chart);
  json.end_array();
  write_texts(members["reading"], result.reading);
  write_texts(members["limits"], result.limits);
  members.end();
}

}  // namespace volvelle
