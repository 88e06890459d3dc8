#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "volvelle/measure/attention_case.h"
#include "volvelle/report/json.h"

namespace volvelle::cli {

/// The options that describe one shape of attention; none of them: the benchmark's own table.
class ShapeOptions {
 public:
  /// `standard` is what help names as the values of options not given. `dtypes`: those on offer.
  void declare(CommandLine& line, const AttentionCase& standard,
               const std::vector<std::string>& dtypes);
  bool given() const;
  /// The shape that is asked for. Throws UsageError for lengths below 1.
  AttentionCase shape() const;

 private:
  AttentionCase standard_;
  std::optional<std::string> dtype_;
  std::optional<std::int64_t> batch_, heads_, key_heads_, queries_, keys_, head_width_, window_;
  bool causal_ = false;
};

/// "float32 B1 H8 T1024 D64 causal".
std::string shape_text(const AttentionCase& shape);

/// The shape's cells in a table and their titles: dtype, B, H, T, D, mask.
std::vector<std::string> shape_titles();
std::vector<std::string> shape_cells(const AttentionCase& shape);
extern const char* const kShapeLegend;

/// The members of a row that say which shape it is.
void write_shape(JsonWriter& json, const AttentionCase& shape);

}  // namespace volvelle::cli
