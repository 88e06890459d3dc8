#pragma once

#include "cli/attend_expect.h"
#include "volvelle/report/json.h"

namespace volvelle::cli {

/// The member `expect` of the document: matches, the comparison of the output where the file has
/// one, `gradients` by name where it has those, diagnosis, not_tried.
void write_expect(JsonWriter& json, const ExpectOutcome& outcome);

}  // namespace volvelle::cli
