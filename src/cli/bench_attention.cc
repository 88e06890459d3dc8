#include "cli/bench_attention.h"

#include "cli/bench_run.h"
#include "cli/bench_shape.h"
#include "cli/exit_code.h"
#include "volvelle/measure/attention_bench.h"

namespace volvelle::cli {

int run_bench_attention(const Invocation& call) {
  ShapeOptions shape;
  BenchOptions options;
  CommandLine line(call.verb);
  shape.declare(line, AttentionCase{}, {"float32", "float64", "float16", "bfloat16"});
  options.declare(line);
  if (!line.parse(call)) return kDone;
  run_benchmark<AttentionCase, AttentionFigures>(
      call, options,
      {.title = std::string("Attention") + kShapeLegend,
       .titles = joined(shape_titles(), peak_titles()),
       .cases = shape.given() ? std::vector{shape.shape()} : attention_cases(),
       .name = shape_text,
       .measure = measure_attention,
       .cells = [](const auto& row) { return joined(shape_cells(row.shape), peak_cells(row)); },
       .write =
           [](JsonWriter& json, const AttentionFigures& row) {
             json.key("op").value("attention");
             write_shape(json, row.shape);
             write_figures(json, row);
           }});
  return kDone;
}

const char* const kBenchAttentionExamples =
    "volvelle bench attention --threads 1 # the table on one thread\n"
    "volvelle bench attention --queries 4096 --causal --window 256 # one shape\n"
    "volvelle bench attention --simd avx2 --queries 512 # with another instruction set\n"
    "volvelle bench attention --dtype bfloat16 --key-heads 2 --json # for a program to read";

const char* const kBenchAttentionNotes =
    "\nEach row is first compared with the oracle on sampled rows, then timed. Medians; operations "
    "are counted for the keys a query sees only: 4 D each. The share of the peak is the median of "
    "rate over the multiply-add peak taken right before and after each repetition (of float32 for "
    "16-bit types). Other work on the machine lowers it.";

}  // namespace volvelle::cli
