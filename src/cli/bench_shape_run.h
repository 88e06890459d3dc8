#pragma once

#include <functional>
#include <vector>

#include "cli/bench_run.h"
#include "cli/bench_shape.h"

namespace volvelle::cli {

/// What the rates of a benchmark's table are held against.
enum class Limit : unsigned char { peak, bandwidth };

/// A benchmark whose cases are shapes of attention.
struct ShapeBenchmark {
  const char* op;     ///< in JSON
  const char* title;  ///< of the table
  AttentionCase standard;
  std::vector<std::string> dtypes;
  const std::vector<AttentionCase>& cases;
  std::function<AttentionFigures(const AttentionCase&, const MeasureOptions&)> measure;
  Limit limit = Limit::peak;
};

/// Reads the command line and runs the shape it describes, or all cases.
int run_shape_benchmark(const Invocation& call, const ShapeBenchmark& benchmark);

}  // namespace volvelle::cli
