#include "cli/bench.h"

#include <array>

#include "cli/bench_attention.h"
#include "cli/bench_backward.h"
#include "cli/bench_decode.h"
#include "cli/bench_matmul.h"
#include "cli/bench_positions.h"
#include "cli/bench_training.h"
#include "cli/subjects.h"

namespace volvelle::cli {
namespace {

const std::array kBenchmarks{
    Verb{"bench attention", "attention against this machine's peak, checked first", "[options]",
         kBenchAttentionExamples, kBenchAttentionNotes, run_bench_attention},
    Verb{"bench backward", "attention's gradients against the peak", "[options]",
         kBenchBackwardExamples, kBenchBackwardNotes, run_bench_backward},
    Verb{"bench decode", "few queries over many keys, against the read bandwidth", "[options]",
         kBenchDecodeExamples, kBenchDecodeNotes, run_bench_decode},
    Verb{"bench matmul", "products with packed weights, against peak and bandwidth", "[options]",
         kBenchMatmulExamples, kBenchMatmulNotes, run_bench_matmul},
    Verb{"bench positions", "position schemes beside the same without positions", "[options]",
         kBenchPositionsExamples, kBenchPositionsNotes, run_bench_positions},
    Verb{"bench training", "whole training steps of language models, against the peak", "[options]",
         kBenchTrainingExamples, kBenchTrainingNotes, run_bench_training},
};

}  // namespace

int run_bench(const Invocation& call) {
  return run_subject(call, kBenchmarks, {"Benchmarks", "benchmark", "NAME"});
}

const char* const kBenchExamples =
    "volvelle bench # lists the benchmarks\n"
    "volvelle bench attention --threads 1 # a table of shapes, each as a share of the peak\n"
    "volvelle bench attention --queries 2048 --causal --json # one shape, for a program to read";

}  // namespace volvelle::cli
