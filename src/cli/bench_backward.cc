#include "cli/bench_backward.h"

#include "cli/bench_shape_run.h"
#include "volvelle/measure/backward_bench.h"

namespace volvelle::cli {

int run_bench_backward(const Invocation& call) {
  return run_shape_benchmark(call, {.op = "attention_backward",
                                    .title = "Attention backward",
                                    .standard = AttentionCase{},
                                    .dtypes = {"float32", "float64", "float16", "bfloat16"},
                                    .cases = backward_cases(),
                                    .measure = measure_backward,
                                    .limit = Limit::peak});
}

const char* const kBenchBackwardExamples =
    "volvelle bench backward --threads 1 # the table on one thread\n"
    "volvelle bench backward --queries 2048 --causal # one shape\n"
    "volvelle bench backward --simd avx2 --queries 512 # with another instruction set\n"
    "volvelle bench backward --key-heads 2 --json # for a program to read";

const char* const kBenchBackwardNotes =
    "\nThe gradients of q, k and v from the saved output and log-sum-exp; the forward pass is not "
    "in the time. Each row is first compared with the oracle on sampled rows of all three "
    "gradients, then timed. Medians; operations are counted for the keys a query sees only: 10 D "
    "each. The share of the peak is the median of rate over the multiply-add peak taken right "
    "before and after each repetition (for bfloat16 of what multiplies its pairs, "
    "which this pass does not use; of float32 for float16).";

}  // namespace volvelle::cli
