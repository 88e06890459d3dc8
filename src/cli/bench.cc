#include "cli/bench.h"

#include <algorithm>
#include <array>

#include "cli/bench_attention.h"
#include "cli/bench_backward.h"
#include "cli/bench_decode.h"
#include "cli/bench_matmul.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/suggest.h"

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
};

// Behind "bench ".
std::string short_name(const Verb& benchmark) { return std::string(benchmark.name).substr(6); }

std::string listing() {
  constexpr std::size_t kSummaries = 28;
  std::string text = "Benchmarks\n";
  for (const Verb& benchmark : benchmarks()) {
    std::string line = "  volvelle " + std::string(benchmark.name);
    line.resize(std::max(line.size() + 2, kSummaries), ' ');
    text += line + benchmark.summary + '\n';
  }
  return text + "  volvelle bench NAME --help lists the options of one\n";
}

}  // namespace

std::span<const Verb> benchmarks() { return kBenchmarks; }

int run_bench(const Invocation& call) {
  if (call.arguments.empty()) {
    call.out << listing();
    return kDone;
  }
  const std::string& wanted = call.arguments.front();
  if (wanted == "--help" || wanted == "-h") {
    call.out << verb_help(call.verb, {}) << '\n' << listing();
    return kDone;
  }
  std::vector<std::string> names;
  for (const Verb& benchmark : benchmarks()) {
    if (short_name(benchmark) == wanted) {
      return benchmark.run(
          {benchmark, {call.arguments.begin() + 1, call.arguments.end()}, call.out, call.remarks});
    }
    names.push_back(short_name(benchmark));
  }
  if (wanted.starts_with('-')) {
    throw UsageError("name the benchmark before its options: volvelle bench attention " + wanted);
  }
  throw UsageError("no benchmark is called '" + wanted + "'" + suggestion(wanted, names));
}

const char* const kBenchExamples =
    "volvelle bench # lists the benchmarks\n"
    "volvelle bench attention --threads 1 # a table of shapes, each as a share of the peak\n"
    "volvelle bench attention --queries 2048 --causal --json # one shape, for a program to read";

}  // namespace volvelle::cli
