#include "cli/bench_matmul.h"

#include <optional>

#include "cli/array_roles.h"
#include "cli/bench_run.h"
#include "cli/exit_code.h"
#include "volvelle/measure/matmul_bench.h"
#include "volvelle/report/number.h"

namespace volvelle::cli {
namespace {

struct Shape {
  std::optional<std::string> dtype;
  std::optional<std::int64_t> m, n, k;
  bool cold = false;
};

void declare(CommandLine& line, Shape& shape) {
  line.group("The shape (none of these: a table of shapes)");
  line.choice("--dtype", shape.dtype, {"float32", "float64", "float16", "bfloat16"},
              "of inputs, weights and outputs (float32)");
  line.integer("--m", shape.m, "M", "rows of the input: tokens (128)");
  line.integer("--n", shape.n, "N", "outputs (768)");
  line.integer("--k", shape.k, "K", "inputs (768)");
  line.flag("--cold", shape.cold, "weights come from memory, not from a cache");
}

std::vector<MatmulCase> cases_of(const Shape& shape) {
  if (!shape.dtype && !shape.m && !shape.n && !shape.k && !shape.cold) return matmul_cases();
  at_least_one("--m", shape.m);
  at_least_one("--n", shape.n);
  at_least_one("--k", shape.k);
  MatmulCase one;
  if (shape.dtype) one.dtype = dtype_named(*shape.dtype);
  one.m = shape.m.value_or(one.m);
  one.n = shape.n.value_or(one.n);
  one.k = shape.k.value_or(one.k);
  one.cold_weights = shape.cold;
  return {one};
}

std::string name(const MatmulCase& shape) {
  return std::string(name_of(shape.dtype)) + " M" + std::to_string(shape.m) + " N" +
         std::to_string(shape.n) + " K" + std::to_string(shape.k) +
         (shape.cold_weights ? " cold" : "");
}

// GB/s and their share stand only where they were measured.
std::vector<std::string> cells(const MatmulFigures& row) {
  const bool cold = row.shape.cold_weights;
  std::vector<std::string> shown = {std::string(name_of(row.shape.dtype)),
                                    std::to_string(row.shape.m), std::to_string(row.shape.n),
                                    std::to_string(row.shape.k)};
  std::vector<std::string> of_peak = peak_cells(row);
  const std::vector<std::string> of_read = bandwidth_cells(row);
  of_peak.insert(of_peak.end() - 1, {cold ? of_read[1] : "", cold ? of_read[2] : ""});
  return joined(shown, of_peak);
}

void write(JsonWriter& json, const MatmulFigures& row) {
  json.key("op").value("matmul");
  json.key("dtype").value(name_of(row.shape.dtype));
  json.key("m").value(row.shape.m);
  json.key("n").value(row.shape.n);
  json.key("k").value(row.shape.k);
  json.key("cold_weights").value(row.shape.cold_weights);
  write_figures(json, row);
}

}  // namespace

int run_bench_matmul(const Invocation& call) {
  Shape shape;
  BenchOptions options;
  CommandLine line(call.verb);
  declare(line, shape);
  options.declare(line);
  options.declare_rotation(line);
  if (!line.parse(call)) return kDone;
  const std::vector<MatmulCase> cases = cases_of(shape);
  if (options.rotates() && cases.size() == 1 && !shape.cold) {
    throw UsageError("--rotate is for cold weights: give --cold as well");
  }
  run_benchmark<MatmulCase, MatmulFigures>(
      call, options,
      {.title = "Products with packed weights, (M,K) x (N,K)^T (GB/s: of cold weights)",
       .titles = {"dtype", "M", "N", "K", "time", "GFLOP/s", "of peak", "GB/s", "of read", "error"},
       .cases = cases,
       .name = name,
       .measure = measure_matmul,
       .cells = cells,
       .write = write});
  return kDone;
}

const char* const kBenchMatmulExamples =
    "volvelle bench matmul --threads 1 # the table on one thread\n"
    "volvelle bench matmul --m 8 --n 3072 --k 768 # one shape\n"
    "volvelle bench matmul --m 1 --n 3072 --k 768 --cold # a token, weights from memory\n"
    "volvelle bench matmul --dtype bfloat16 --m 512 --json # for a program to read";

const char* const kBenchMatmulNotes =
    "\nWeights are packed before, which is not in the time. Sampled elements of each row are first "
    "compared with sums in double, then it is timed. Medians; 2 M N K operations. The share of the "
    "peak is the median of rate over the multiply-add peak taken right before and after each "
    "repetition, for bfloat16 that of what multiplies its pairs.\nCold weights: equal ones in "
    "different places are taken in turn until --rotate "
    "megabytes have passed. GB/s are the bytes of the packed weights over the median time; their "
    "share is the median of that rate over the read bandwidth of as many threads, taken on another "
    "32 MiB of 256 right before and after each repetition.";

}  // namespace volvelle::cli
