#include "cli/bench_decode.h"

#include "cli/bench_run.h"
#include "cli/bench_shape.h"
#include "cli/exit_code.h"
#include "volvelle/measure/decode_bench.h"

namespace volvelle::cli {

int run_bench_decode(const Invocation& call) {
  ShapeOptions shape;
  BenchOptions options;
  CommandLine line(call.verb);
  shape.declare(line, decode_case(), {"float32", "float64", "float16", "bfloat16"});
  options.declare(line);
  options.declare_rotation(line);
  if (!line.parse(call)) return kDone;
  run_benchmark<AttentionCase, AttentionFigures>(
      call, options,
      {.title = std::string("Decoding") + kShapeLegend,
       .titles = joined(shape_titles(), bandwidth_titles()),
       .cases = shape.given() ? std::vector{shape.shape()} : decode_cases(),
       .name = shape_text,
       .measure = measure_decode,
       .cells =
           [](const auto& row) { return joined(shape_cells(row.shape), bandwidth_cells(row)); },
       .write =
           [](JsonWriter& json, const AttentionFigures& row) {
             json.key("op").value("decode");
             write_shape(json, row.shape);
             write_figures(json, row);
           }});
  return kDone;
}

const char* const kBenchDecodeExamples =
    "volvelle bench decode --threads 1 # the table on one thread\n"
    "volvelle bench decode --keys 32768 --heads 32 # four query heads on each key head\n"
    "volvelle bench decode --queries 4 --causal # four new tokens at once\n"
    "volvelle bench decode --dtype bfloat16 --rotate 1000 --json # for a program to read";

const char* const kBenchDecodeNotes =
    "\nEach row is first compared with the oracle on sampled rows, then timed. Keys and values "
    "come "
    "from memory: equal ones in different places are taken in turn until --rotate megabytes have "
    "passed. GB/s are the bytes of the keys and values that are seen, read once each, over the "
    "median time; the share is the median of that rate over the read bandwidth of as many threads, "
    "taken on another 32 MiB of 256 right before and after each repetition.";

}  // namespace volvelle::cli
