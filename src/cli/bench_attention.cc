#include "cli/bench_attention.h"

#include <optional>

#include "cli/bench_report.h"
#include "cli/command_line.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "volvelle/attention/simd.h"
#include "volvelle/measure/attention_bench.h"
#include "volvelle/measure/machine.h"
#include "volvelle/report/number.h"

namespace volvelle::cli {
namespace {

struct Options {
  std::optional<std::string> dtype, simd;
  std::optional<std::int64_t> batch, heads, key_heads, queries, keys, head_width, window, threads;
  std::optional<double> seconds;
  bool causal = false;
  bool json = false;
};

void declare(CommandLine& line, Options& o) {
  line.group("The shape (none of these: a table of shapes)");
  line.choice("--dtype", o.dtype, {"float32", "float64", "float16", "bfloat16"},
              "of q, k, v and the output (float32)");
  line.integer("--batch", o.batch, "B", "batch rows (1)");
  line.integer("--heads", o.heads, "H", "query heads (8)");
  line.integer("--key-heads", o.key_heads, "G", "key heads (as --heads)");
  line.integer("--queries", o.queries, "T", "queries (1024)");
  line.integer("--keys", o.keys, "S", "keys (as --queries)");
  line.integer("--head-width", o.head_width, "D", "width of a head (64)");
  line.flag("--causal", o.causal, "a query sees no later key");
  line.integer("--window", o.window, "N", "a query sees the N keys up to its own position");
  line.group("How");
  line.integer("--threads", o.threads, "N", "at most N threads (all CPUs)");
  line.text("--simd", o.simd, "NAME", "instruction set; `volvelle --version` lists them");
  line.number("--seconds", o.seconds, "X", "spent on timing each row, about (0.5)");
  line.flag("--json", o.json, "one JSON document on stdout");
}

void check(const Options& o) {
  const auto at_least_one = [](const char* name, const std::optional<std::int64_t>& value) {
    if (value && *value < 1) throw UsageError(std::string(name) + " must be at least 1");
  };
  at_least_one("--batch", o.batch);
  at_least_one("--heads", o.heads);
  at_least_one("--key-heads", o.key_heads);
  at_least_one("--queries", o.queries);
  at_least_one("--keys", o.keys);
  at_least_one("--head-width", o.head_width);
  if (o.window && *o.window < 0) throw UsageError("--window must not be negative");
  if (o.threads && (*o.threads < 1 || *o.threads > 1024)) {
    throw UsageError("--threads takes 1 to 1024");
  }
  if (o.seconds && !(*o.seconds > 0 && *o.seconds <= 3600)) {
    throw UsageError("--seconds takes a number above 0, at most 3600");
  }
}

DType dtype_named(const std::string& name) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    if (name_of(dtype) == name) return dtype;
  }
  throw UsageError("unknown dtype " + name);
}

std::vector<AttentionCase> cases_of(const Options& o) {
  const bool shaped = o.dtype || o.batch || o.heads || o.key_heads || o.queries || o.keys ||
                      o.head_width || o.window || o.causal;
  if (!shaped) return attention_cases();
  AttentionCase one;
  if (o.dtype) one.dtype = dtype_named(*o.dtype);
  one.batch = o.batch.value_or(one.batch);
  one.heads = o.heads.value_or(one.heads);
  one.key_heads = o.key_heads.value_or(one.heads);
  one.queries = o.queries.value_or(one.queries);
  one.keys = o.keys.value_or(one.queries);
  one.head_width = o.head_width.value_or(one.head_width);
  one.causal = o.causal;
  one.window = o.window.value_or(0);
  return {one};
}

}  // namespace

int run_bench_attention(const Invocation& call) {
  Options options;
  CommandLine line(call.verb);
  declare(line, options);
  if (!line.parse(call)) return kDone;
  check(options);
  if (options.simd) set_simd_target(*options.simd);

  // An interrupt waits until what was measured is printed.
  const InterruptsHeld held;
  MeasureOptions how;
  how.threads = static_cast<int>(options.threads.value_or(0));
  how.seconds = options.seconds.value_or(how.seconds);
  how.stopped = [] { return InterruptsHeld::pending(); };

  call.remarks << "measuring the machine's peaks\n";
  const Machine machine = measure_machine(how.threads);
  const std::vector<AttentionCase> cases = cases_of(options);
  std::vector<AttentionFigures> rows;
  for (std::size_t i = 0; i < cases.size() && !how.stopped(); ++i) {
    call.remarks << '[' << i + 1 << '/' << cases.size() << "] " << shape_text(cases[i])
                 << std::endl;
    AttentionFigures row = measure_attention(cases[i], how);
    if (row.repetitions > 0) rows.push_back(std::move(row));
  }
  if (options.json) {
    write_bench_json(call.out, machine, rows);
  } else {
    call.out << bench_text(machine, rows);
  }
  call.out.flush();
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
