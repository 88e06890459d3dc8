#include <cmath>

#include "volvelle/check/property_report.h"
#include "volvelle/report/json.h"

namespace volvelle {
namespace {

double finite(double value) { return std::isfinite(value) ? value : 1e308; }

}  // namespace

void write_property_json(std::ostream& out, const PropertyReport& report) {
  JsonWriter json(out);
  json.begin_object();
  json.key("holds").value(report.holds());
  json.key("complete").value(report.complete);
  json.key("rows").begin_array();
  for (const PropertyRow& row : report.rows) {
    json.begin_object();
    json.key("property").value(row.property);
    if (row.scheme.empty()) {
      json.key("path").value(row.path);
      json.key("simd").value(row.simd);
    } else {
      json.key("scheme").value(row.scheme);
    }
    json.key("error").value(finite(row.error));
    json.key("tolerance").value(finite(row.tolerance));
    json.key("control").value(row.control);
    json.key("control_error").value(finite(row.control_error));
    json.key("verdict").value(name_of(row.verdict));
    if (!row.note.empty()) json.key("note").value(row.note);
    json.end_object();
  }
  json.end_array();
  if (report.of != "attention") {  // no routes, so nothing that refuses
    json.end_object();
    return;
  }
  json.key("refused").begin_array();
  for (const PropertyRefusal& refusal : report.refused) {
    json.begin_object();
    json.key("property").value(refusal.property);
    json.key("path").value(refusal.path);
    json.key("simd").value(refusal.simd);
    json.key("reason").value(refusal.reason);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_property_list_json(std::ostream& out, const std::vector<PropertyEntry>& entries) {
  JsonWriter json(out);
  json.begin_object();
  json.key("properties").begin_array();
  for (const PropertyEntry& entry : entries) {
    json.begin_object();
    json.key("name").value(entry.name);
    json.key("sentence").value(entry.sentence);
    json.key("controls").begin_array();
    for (const std::string& control : entry.controls) json.value(control);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace volvelle
