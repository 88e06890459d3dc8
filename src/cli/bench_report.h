#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "volvelle/measure/attention_bench.h"
#include "volvelle/measure/machine.h"

namespace volvelle::cli {

/// "float32 B1 H8 T1024 D64 causal".
std::string shape_text(const AttentionCase& shape);

/// The machine's peaks and a table of the rows.
std::string bench_text(const Machine& machine, const std::vector<AttentionFigures>& rows);

/// {"machine": {...}, "rows": [...]}.
void write_bench_json(std::ostream& out, const Machine& machine,
                      const std::vector<AttentionFigures>& rows);

}  // namespace volvelle::cli
