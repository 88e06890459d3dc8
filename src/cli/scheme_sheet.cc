#include "cli/scheme_sheet.h"

#include <algorithm>

#include "cli/fact_words.h"
#include "volvelle/base/error.h"
#include "volvelle/report/json_members.h"
#include "volvelle/report/number.h"
#include "volvelle/report/study_report.h"

namespace volvelle::cli {
namespace {

StudyCell positions_cell(const PositionFacts& facts) {
  return facts.positions ? StudyCell(*facts.positions) : StudyCell();
}

std::string model_words(const PositionContext& context) {
  return "width " + std::to_string(context.width) + ", " + std::to_string(context.heads) +
         " heads of width " + std::to_string(context.head_width) +
         (context.causal ? ", causal" : ", two-way");
}

void add_facts(const SchemeCase& scheme, const PositionEntry& entry, const PositionFacts& facts,
               StudyResult& sheet) {
  sheet.setup = {{"kind", kind_words(facts)},
                 {"a shift leaves", shift_words(facts)},
                 {"changes", change_words(facts)},
                 {"positions", position_words(facts)},
                 {"parameters", grouped(facts.parameters) +
                                    (facts.shared_by_layers ? ", one table for all layers" : "")},
                 {"cost per token", facts.cost},
                 {"cache holds", facts.cache},
                 {"model", model_words(scheme.context)},
                 {"source", entry.source}};
  sheet.facts = {{"kind", kind_words(facts)},
                 {"door", door_word(facts.door)},
                 {"shift_leaves", shift_words(facts)},
                 {"changes", change_words(facts)},
                 {"positions", positions_cell(facts)},
                 {"parameters", facts.parameters},
                 {"cost", facts.cost},
                 {"cache", facts.cache},
                 {"keys_cached_turned", facts.keys_cached_turned},
                 {"shared_by_layers", facts.shared_by_layers},
                 {"width", scheme.context.width},
                 {"heads", scheme.context.heads},
                 {"head_width", scheme.context.head_width},
                 {"causal", scheme.context.causal},
                 {"length", scheme.length},
                 {"source", std::string(entry.source)}};
}

bool is_read(const PositionKey& key, const std::string& scaling) {
  const std::string words = ' ' + std::string(key.when) + ' ';
  return *key.when == '\0' || words.find(' ' + scaling + ' ') != std::string::npos;
}

// Those that were given, and the standard values of the others that are read.
StudyTable settings_table(const SchemeCase& scheme, const PositionEntry& entry) {
  StudyTable table{.key = "settings",
                   .title = "Settings",
                   .columns = {{"setting", "setting"},
                               {"value", "value"},
                               {"given", ""},
                               {"meaning", "meaning"}},
                   .rows = {}};
  const auto given = [&](const std::string& key) -> const std::string* {
    for (const PositionSetting& setting : scheme.text.settings) {
      if (setting.key == key) return &setting.value;
    }
    return nullptr;
  };
  const std::string* const scaling = given("scaling");
  for (const PositionKey& key : entry.keys) {
    const std::string* const value = given(key.name);
    if (value == nullptr && *key.standard == '\0') continue;
    if (!is_read(key, scaling == nullptr ? "none" : *scaling)) continue;
    table.rows.push_back({std::string(key.name), value ? *value : std::string(key.standard),
                          value != nullptr, std::string(key.sentence)});
  }
  return table;
}

// What a scheme promises on this model, or why it cannot be on it.
std::vector<StudyCell> row_of(const PositionEntry& entry, const PositionContext& context) {
  // A learned table must have a length.
  const bool learned = std::string(entry.name) == "learned";
  const std::string text = learned ? "learned(rows=1024)" : entry.name;
  const std::string words = entry.sentence;
  try {
    const PositionFacts facts = make_positions(text, context)->facts();
    return {text,
            kind_words(facts),
            shift_words(facts),
            change_words(facts),
            position_words(facts),
            facts.parameters,
            facts.cost,
            facts.cache,
            words,
            true,
            {}};
  } catch (const InvalidArgument& refusal) {
    return {text, {}, {}, {}, {}, {}, {}, {}, words, false, std::string(refusal.what())};
  }
}

}  // namespace

StudyResult scheme_sheet(const SchemeCase& scheme) {
  const PositionEntry& entry = position_scheme(scheme.text.scheme);
  const PositionFacts facts = make_positions(scheme.text, scheme.context)->facts();
  StudyResult sheet{.name = to_text(scheme.text), .question = entry.sentence};
  add_facts(scheme, entry, facts, sheet);
  add_figures(scheme, sheet);
  const StudyTable settings = settings_table(scheme, entry);
  if (!settings.rows.empty()) sheet.tables.push_back(settings);
  return sheet;
}

StudyResult schemes_sheet(const PositionContext& context) {
  StudyResult sheet{.name = "Ways of giving position",
                    .question = "Each by its name; `volvelle schemes NAME` shows one in full."};
  StudyTable table{.key = "schemes",
                   .title = "",
                   .columns = {{"scheme", "scheme"},
                               {"kind", "kind"},
                               {"shift_leaves", "a shift leaves"},
                               {"changes", "changes"},
                               {"positions", "positions"},
                               {"parameters", "parameters"},
                               {"cost", "cost per token (bias: per score) and layer"},
                               {"cache", "a cache holds"},
                               {"sentence", "in words"},
                               {"fits", ""},
                               {"refused", ""}},
                   .rows = {}};
  make_positions("none", context);  // refuses a model that is none, before any scheme is to blame
  for (const PositionEntry& entry : position_schemes()) {
    table.rows.push_back(row_of(entry, context));
    const auto* const refusal = std::get_if<std::string>(&table.rows.back().back());
    if (refusal == nullptr) continue;
    table.columns[table.columns.size() - 2].title = "fits";
    sheet.reading.push_back(std::string(entry.name) + ": " + *refusal);
  }
  sheet.tables.push_back(std::move(table));
  return sheet;
}

std::string sheet_text(const StudyResult& sheet) {
  std::string text = wrapped(sheet.name, {.indent = 0}, 2);
  const std::size_t line = std::min<std::size_t>(text.find('\n'), 80);
  text += std::string(line, '=') + "\n\n" + wrapped(sheet.question, {.indent = 0}) + '\n';
  std::size_t width = 0;
  for (const auto& [name, value] : sheet.setup) width = std::max(width, name.size());
  for (const auto& [name, value] : sheet.setup) {
    const int indent = static_cast<int>(width) + 4;
    std::string body = wrapped(value, {.indent = indent});
    body.replace(2, name.size(), name);
    text += body;
  }
  if (!sheet.setup.empty()) text += '\n';
  text += study_brief(sheet);
  for (const StudyChart& chart : sheet.charts) {
    if (chart.in_text) text += '\n' + study_chart_text(chart);
  }
  return text;
}

void write_sheet_json(std::ostream& out, const StudyResult& sheet) {
  JsonWriter json(out);
  JsonMembers members(json);
  members["scheme"].value(sheet.name);
  members["sentence"].value(sheet.question);
  for (const auto& [key, cell] : sheet.facts) write_study_cell(members[key], cell);
  for (const StudyTable& table : sheet.tables) write_study_table(members[table.key], table);
  members.end();
}

}  // namespace volvelle::cli
