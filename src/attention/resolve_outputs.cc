#include "attention/resolve_written.h"
#include "attention/resolved.h"

namespace volvelle {
namespace {

Strided4 lay_out(const char* name, const MutableView& array, const WantedShape& wanted, DType dtype,
                 const ResolvedAttention& problem) {
  if (!array) return {};
  const View view = array;
  const Strided4 laid = on_problem_axes({name, view}, wanted, problem);
  if (view.dtype() != dtype) {
    refuse(std::string(name) + " is " + std::string(name_of(view.dtype())) + "; it must be " +
           std::string(name_of(dtype)));
  }
  check_writable({name, view});
  return laid;
}

}  // namespace

ResolvedOutputs resolve_outputs(const ResolvedAttention& problem, const AttentionProblem& views,
                                const AttentionOutputs& outputs) {
  const DType statistic = problem.dtype == DType::float64 ? DType::float64 : DType::float32;
  const std::int64_t b = problem.batch, h = problem.heads;
  const WantedShape rows{"(B,H,T)", {b, h, problem.queries, 1}, 3};
  ResolvedOutputs resolved;
  resolved.output = lay_out("output", outputs.output,
                            {"(B,H,T,E)", {b, h, problem.queries, problem.value_width}, 4},
                            problem.dtype, problem);
  resolved.lse = lay_out("lse", outputs.lse, rows, statistic, problem);
  resolved.entropy = lay_out("entropy", outputs.entropy, rows, statistic, problem);
  resolved.column_sums = lay_out("column_sums", outputs.column_sums,
                                 {"(B,H,S)", {b, h, problem.keys, 1}, 3}, statistic, problem);
  const WrittenArray written[] = {{"output", outputs.output},
                                  {"lse", outputs.lse},
                                  {"entropy", outputs.entropy},
                                  {"column_sums", outputs.column_sums}};
  check_overlap(views, {}, written, "attend");
  return resolved;
}

}  // namespace volvelle
