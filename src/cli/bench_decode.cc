#include "cli/bench_decode.h"

#include "cli/bench_shape_run.h"
#include "volvelle/measure/decode_bench.h"

namespace volvelle::cli {

int run_bench_decode(const Invocation& call) {
  return run_shape_benchmark(call, {.op = "decode",
                                    .title = "Decoding",
                                    .standard = decode_case(),
                                    .dtypes = {"float32", "float16", "bfloat16"},
                                    .cases = decode_cases(),
                                    .measure = measure_decode,
                                    .limit = Limit::bandwidth});
}

const char* const kBenchDecodeExamples =
    "volvelle bench decode --threads 1 # the table on one thread\n"
    "volvelle bench decode --keys 32768 --heads 32 # four query heads on each key head\n"
    "volvelle bench decode --queries 4 --causal # four new tokens at once\n"
    "volvelle bench decode --dtype bfloat16 --rotate 1000 --json # for a program to read";

const char* const kBenchDecodeNotes =
    "\nEach row is first compared with the oracle on sampled rows, then timed. Keys and values are "
    "those of a cache and come from memory: sequences that hold equal ones are taken in turn until "
    "--rotate megabytes have passed. GB/s are the bytes of the keys and values that are seen, read "
    "once each, over the median time; the share is the median of that rate over the read bandwidth "
    "of as many threads, taken on another 32 MiB of 256 right before and after each repetition.";

}  // namespace volvelle::cli
