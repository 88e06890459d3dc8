#include "cli/bench_shape_run.h"

#include "cli/exit_code.h"

namespace volvelle::cli {

int run_shape_benchmark(const Invocation& call, const ShapeBenchmark& benchmark) {
  const bool of_peak = benchmark.limit == Limit::peak;
  ShapeOptions shape;
  BenchOptions options;
  CommandLine line(call.verb);
  shape.declare(line, benchmark.standard, benchmark.dtypes);
  options.declare(line);
  if (!of_peak) options.declare_rotation(line);
  if (!line.parse(call)) return kDone;
  run_benchmark<AttentionCase, AttentionFigures>(
      call, options,
      {.title = std::string(benchmark.title) + kShapeLegend,
       .titles = joined(shape_titles(), of_peak ? peak_titles() : bandwidth_titles()),
       .cases = shape.given() ? std::vector{shape.shape()} : benchmark.cases,
       .name = shape_text,
       .measure = benchmark.measure,
       .cells =
           [&](const AttentionFigures& row) {
             return joined(shape_cells(row.shape),
                           of_peak ? peak_cells(row) : bandwidth_cells(row));
           },
       .write =
           [op = benchmark.op](JsonWriter& json, const AttentionFigures& row) {
             json.key("op").value(op);
             write_shape(json, row.shape);
             write_figures(json, row);
           }});
  return kDone;
}

}  // namespace volvelle::cli
