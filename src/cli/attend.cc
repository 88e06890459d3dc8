#include "cli/attend.h"

#include "cli/attend_expect.h"
#include "cli/attend_inputs.h"
#include "cli/attend_json.h"
#include "cli/attend_options.h"
#include "cli/attend_run.h"
#include "cli/attend_steps.h"
#include "cli/attend_summary.h"
#include "cli/attend_write.h"
#include "cli/exit_code.h"
#include "cli/gradient_agreement.h"
#include "cli/gradient_summary.h"
#include "cli/path_agreement.h"
#include "cli/score_table.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/threads.h"
#include "volvelle/io/arrays.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kHeadsShown = 4;

std::string all_weights(const AttendRun& run, int digits) {
  const AttentionPlan& plan = run.plan;
  std::string text;
  for (std::int64_t part = 0; part < std::min(plan.batch * plan.heads, kHeadsShown); ++part) {
    const auto of = [&](const Tensor& tensor) {
      return head_of(tensor.view(), part / plan.heads, part % plan.heads);
    };
    text += "Weights of head " + std::to_string(part % plan.heads);
    if (plan.batch > 1) text += " of batch row " + std::to_string(part / plan.heads);
    text += '\n' + score_table(of(run.steps->weights),
                               run.steps->excluded ? of(run.steps->excluded) : View(), digits);
  }
  if (plan.batch * plan.heads > kHeadsShown) {
    text += "... " + grouped(plan.batch * plan.heads - kHeadsShown) +
            " more heads; --json and --out have them all\n";
  }
  return text;
}

void print_text(std::ostream& out, const AttendInputs& inputs, const AttendRun& run,
                const AttendOptions& options, bool show_steps) {
  const int digits = static_cast<int>(options.digits.value_or(4));
  const AttentionPlan& plan = run.plan;
  if (show_steps) {
    out << wrapped("Attention of " + grouped(plan.queries) + " queries over " + grouped(plan.keys) +
                       " keys, step by step: " + inputs.source + ", " +
                       std::string(name_of(inputs.problem.q.dtype())),
                   {.indent = 0})
        << '\n'
        << steps_text(inputs, run, digits) << '\n';
    if (run.backward) {
      out << gradient_summary(inputs, run, digits) << shared_gradients(run, digits) << '\n';
    }
    out << agreement_text(path_agreement(inputs.problem, run.threads), inputs.problem.q.dtype());
    if (run.backward) {
      out << gradient_agreement_text(inputs.problem, inputs.grad_output, run.threads);
    }
    out << wrapped("The output is of the " + std::string(name_of_path(plan.path)) + " path on " +
                       plan.simd + ": " + plan.reason + ".",
                   {.indent = 0});
  } else {
    out << summary_text(inputs, run, digits);
    if (run.backward) out << '\n' << gradient_summary(inputs, run, digits);
    if (options.weights) out << '\n' << all_weights(run, digits);
  }
  if (options.entropy) out << '\n' << entropy_text(run, digits);
  if (options.column_sums) out << '\n' << column_sums_text(run, digits);
}

void print_remarks(const Invocation& call, const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) call.remarks << "remark: " << remark << '\n';
}

int explain_only(const Invocation& call, const AttendInputs& inputs, const AttendOptions& options) {
  const AttentionOptions how = attention_options(options);
  const AttentionPlan plan = explain(inputs.problem, how);
  const int count = how.threads > 0 ? how.threads : threads();
  std::optional<AttentionBackwardPlan> backward;
  if (options.backward) backward = explain_backward(inputs.problem, how);
  if (options.json) {
    write_plan_json(call.out, inputs, plan, backward, count);
    return kDone;
  }
  call.out << plan_text(inputs, plan, count);
  if (backward) call.out << backward_plan_text(*backward);
  return kDone;
}

}  // namespace

int run_attend(const Invocation& call) {
  AttendOptions options;
  CommandLine line(call.verb);
  declare(line, options);
  if (!line.parse(call)) return kDone;
  check(options);
  if (options.simd) set_simd_target(*options.simd);
  if (options.out) check_output_path(*options.out, {.force = options.force});

  const AttendInputs inputs = gather(options);
  print_remarks(call, inputs.remarks);
  if (options.explain) return explain_only(call, inputs, options);

  const AttentionOptions how = attention_options(options);
  const bool show_steps =
      !options.json && (options.steps || is_small(explain(inputs.problem, how)));
  const AttendWishes wishes{
      .entropy = options.entropy || (!options.json && !show_steps),
      .column_sums = options.column_sums,
      .steps = show_steps || options.steps || options.weights,
  };
  const AttendRun run = run_attention(inputs, how, wishes);
  std::optional<ExpectOutcome> expect;
  if (options.expect) expect = compare_with_file(inputs, run, options);
  if (expect) print_remarks(call, expect->remarks);
  if (options.out) {
    write_results(inputs, run, options);
    call.remarks << "wrote " << *options.out << '\n';
  }
  if (options.json) {
    write_json(call.out, {inputs, run, options, expect});
  } else {
    print_text(call.out, inputs, run, options, show_steps);
    if (expect) {
      call.out << '\n'
               << expect_text(*expect, *options.expect,
                              static_cast<int>(options.digits.value_or(4)));
    }
  }
  return expect && !expect->matches() ? kCheckFailed : kDone;
}

const char* const kAttendExamples =
    "volvelle attend # the embedded example, every step\n"
    "volvelle attend --causal --q \"1 0; 1 1\" --k \"1 0; 0 1\" --v \"1 2; 3 4\" # your own "
    "numbers\n"
    "volvelle attend qkv.npz --causal --window 256 # a file with arrays q, k, v: a summary\n"
    "volvelle attend qkv.npz --causal --expect theirs.npz # does another program agree? if not, "
    "why\n"
    "volvelle attend qkv.npz --alibi --out result.npz --entropy # keep the arrays\n"
    "volvelle attend --rotary split-half --positions 3,5 # queries and keys turned by position\n"
    "volvelle attend qkv.npz --causal --rotary interleaved --expect theirs.npz "
    "# is it the pairing?\n"
    "volvelle attend --backward --grad-output \"1 0; 0 1\" # through the softmax and back\n"
    "volvelle attend qkv.npz --causal --backward --expect theirs.npz # check a backward pass\n"
    "volvelle attend --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --heads 4 "
    "# projections first";

const char* const kAttendNotes =
    "\nAxes: q (B,H,T,D), k (B,G,S,D), v (B,G,S,E); leading ones may be missing, so a matrix is "
    "one "
    "head. Query head h reads key head h/(H/G).\n"
    "Positions are the tokens' indices unless --positions says others: turns, biases and relative "
    "vectors go by them, masks by the indices always.\n"
    "Query i stands at p = i + (S - T), or where --align and --query-offset say. An excluded key "
    "is "
    "never multiplied in; a query that sees no key gets 0, and log-sum-exp -inf.";

}  // namespace volvelle::cli
