#include "cli/expect_json.h"

#include <utility>

namespace volvelle::cli {
namespace {

void write_comparison(JsonWriter& json, const Comparison& c) {
  json.key("max_abs").value(c.max_abs);
  json.key("max_rel").value(c.max_rel);
  json.key("at").begin_array();
  for (const std::int64_t index : c.at) json.value(index);
  json.end_array();
  json.key("tolerance").begin_object();
  json.key("atol").value(c.tolerance.atol).key("rtol").value(c.tolerance.rtol);
  json.end_object();
  json.key("elements").value(c.elements).key("failing").value(c.failing);
  json.key("rows").value(c.rows).key("failing_rows").value(c.failing_rows);
  for (const auto& [name, parts] :
       {std::pair{"heads", &c.heads}, std::pair{"batches", &c.batches}}) {
    json.key(name).begin_array();
    for (const PartDifference& part : *parts) {
      json.begin_object();
      json.key("index").value(part.index).key("failing").value(part.failing);
      json.key("failing_rows").value(part.failing_rows).key("max_abs").value(part.max_abs);
      json.end_object();
    }
    json.end_array();
  }
  json.key("worst_rows").begin_array();
  for (const RowDifference& row : c.worst_rows) {
    json.begin_object();
    json.key("batch").value(row.batch).key("head").value(row.head).key("row").value(row.row);
    json.key("failing").value(row.failing).key("max_abs").value(row.max_abs);
    json.end_object();
  }
  json.end_array();
}

void write_diagnosis(JsonWriter& json, const std::vector<Diagnosis>& diagnosis) {
  for (const Diagnosis& one : diagnosis) {
    json.begin_object();
    json.key("fault").value(one.fault).key("sentence").value(one.sentence);
    json.key("max_abs").value(one.max_abs);
    json.end_object();
  }
}

}  // namespace

void write_expect(JsonWriter& json, const ExpectOutcome& outcome) {
  json.key("expect").begin_object();
  json.key("matches").value(outcome.matches());
  if (outcome.output) {
    write_comparison(json, outcome.output->output);
    if (const auto& lse = outcome.output->lse) {
      json.key("lse").begin_object();
      json.key("matches").value(lse->matches).key("max_abs").value(lse->max_abs);
      json.key("failing").value(lse->failing);
      json.end_object();
    }
  }
  if (outcome.gradients) {
    json.key("gradients").begin_object();
    for (const GradientComparison& one : outcome.gradients->gradients) {
      json.key(one.name).begin_object();
      json.key("matches").value(one.comparison.matches);
      write_comparison(json, one.comparison);
      json.end_object();
    }
    json.end_object();
  }
  json.key("diagnosis").begin_array();
  if (outcome.output) write_diagnosis(json, outcome.output->diagnosis);
  if (outcome.gradients) write_diagnosis(json, outcome.gradients->diagnosis);
  json.end_array();
  json.key("not_tried").begin_array();
  if (outcome.output) {
    for (const std::string& reason : outcome.output->not_tried) json.value(reason);
  }
  if (outcome.gradients) {
    for (const std::string& reason : outcome.gradients->not_tried) json.value(reason);
  }
  json.end_array();
  json.end_object();
}

}  // namespace volvelle::cli
