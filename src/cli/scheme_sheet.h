#pragma once

#include <iosfwd>
#include <string>

#include "cli/scheme_figures.h"

namespace volvelle::cli {

/// One scheme on the caller's model: facts, settings, figures. Name and question of the result are
/// the scheme's text and sentence. Throws what the scheme throws.
StudyResult scheme_sheet(const SchemeCase& scheme);

/// All schemes side by side. One that does not fit the model has a row with the reason instead of
/// its facts. Throws InvalidArgument for sizes that make no model.
StudyResult schemes_sheet(const PositionContext& context);

std::string sheet_text(const StudyResult& sheet);
void write_sheet_json(std::ostream& out, const StudyResult& sheet);

}  // namespace volvelle::cli
