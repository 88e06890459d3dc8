#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/report/json.h"
#include "volvelle/report/study_result.h"
#include "volvelle/report/table.h"

namespace volvelle {

/// A study for reading: question, set-up, tables, charts, controls, reading, limits. A control that
/// did not fail is said first and last, one that did beside what was measured. Lines keep to the
/// page; a table that is too wide goes on below itself, its first column repeated.
VOLVELLE_API std::string study_text(const StudyResult& result, const TextLayout& layout = {});

/// The same in short, to stand among others: tables, what the control did, reading, limits.
VOLVELLE_API std::string study_brief(const StudyResult& result, const TextLayout& layout = {});

/// One chart of it with characters, under its title.
VOLVELLE_API std::string study_chart_text(const StudyChart& chart, const TextLayout& layout = {});

/// One document: `study`, `question`, `complete`, `setup`, the facts by key, the tables by key (an
/// object a row), `control` (`what`, `check`, `failed`, `figures`, its tables by key; null where
/// none was run), `further_controls` where there are more, `controls_failed`, `charts`, `reading`,
/// `limits`.
/// Throws InternalError when two members have one name.
VOLVELLE_API void write_study_json(std::ostream& out, const StudyResult& result);

/// A cell as `write_study_json` has it: null where it is missing, a list as an array.
VOLVELLE_API void write_study_cell(JsonWriter& json, const StudyCell& cell);

/// A table as `write_study_json` has it: an array with an object a row, by the keys of the columns.
/// Throws InternalError when two columns have one key.
VOLVELLE_API void write_study_table(JsonWriter& json, const StudyTable& table);

/// One table: a line of keys, then a line a row. Numbers read back as they were, lists stand in one
/// cell with blanks between, what is missing is an empty cell; text is quoted where it must be
/// (RFC 4180, lines end with a newline).
VOLVELLE_API std::string study_csv(const StudyTable& table);

/// The same for all tables of a study, each with the name of its file: `path` for the main table
/// (the first), then, before the extension, `.KEY` for each further one and `.control.KEY` for
/// those of the control (`.control-2.KEY` for the second).
VOLVELLE_API std::vector<std::pair<std::string, std::string>> study_csv_files(
    const StudyResult& result, const std::string& path);

/// All charts in one SVG picture, one below the other, under the question and above what the
/// control did.
/// Throws InternalError for charts whose parts do not fit each other.
VOLVELLE_API std::string study_svg(const StudyResult& result);

/// Charts alone in one picture, under a title and what is to be said about it.
/// Throws InternalError for charts whose parts do not fit each other.
VOLVELLE_API std::string charts_svg(const std::string& title, const std::string& sentence,
                                    const std::vector<StudyChart>& charts);

}  // namespace volvelle
