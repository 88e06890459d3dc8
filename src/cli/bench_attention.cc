#include "cli/bench_attention.h"

#include "cli/bench_shape_run.h"
#include "volvelle/measure/attention_bench.h"

namespace volvelle::cli {

int run_bench_attention(const Invocation& call) {
  return run_shape_benchmark(call, {.op = "attention",
                                    .title = "Attention",
                                    .standard = AttentionCase{},
                                    .dtypes = {"float32", "float64", "float16", "bfloat16"},
                                    .cases = attention_cases(),
                                    .measure = measure_attention,
                                    .limit = Limit::peak});
}

const char* const kBenchAttentionExamples =
    "volvelle bench attention --threads 1 # the table on one thread\n"
    "volvelle bench attention --queries 4096 --causal --window 256 # one shape\n"
    "volvelle bench attention --simd avx2 --queries 512 # with another instruction set\n"
    "volvelle bench attention --dtype bfloat16 --key-heads 2 --json # for a program to read";

const char* const kBenchAttentionNotes =
    "\nEach row is first compared with the oracle on sampled rows, then timed. Medians; operations "
    "are counted for the keys a query sees only: 4 D each. The share of the peak is the median of "
    "rate over the multiply-add peak taken right before and after each repetition (for bfloat16 of "
    "what multiplies its pairs, the matrix unit say; of float32 for float16). Other work on the "
    "machine lowers it.";

}  // namespace volvelle::cli
