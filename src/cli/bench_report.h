#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "volvelle/measure/figures.h"
#include "volvelle/measure/machine.h"
#include "volvelle/report/json.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {

/// What one benchmark prints of its rows.
struct BenchTable {
  std::string title;
  Table table;
  std::vector<std::function<void(JsonWriter&)>> json_rows;  ///< the members of each
};

/// The machine's peaks and the table.
std::string bench_text(const Machine& machine, const BenchTable& table);

/// {"machine": {...}, "rows": [...]}.
void write_bench_json(std::ostream& out, const Machine& machine, const BenchTable& table);

/// The cells of figures against the peak and their titles: time, GFLOP/s, of peak, error.
std::vector<std::string> peak_titles();
std::vector<std::string> peak_cells(const Figures& figures);
/// The same against the read bandwidth: time, GB/s, of read, error.
std::vector<std::string> bandwidth_titles();
std::vector<std::string> bandwidth_cells(const Figures& figures);

/// The members of a row behind those that say what it is. Without a time against the read
/// bandwidth, what belongs to that is left out.
void write_figures(JsonWriter& json, const Figures& figures);

/// One row of cells, or of titles.
std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second);

}  // namespace volvelle::cli
