#include "attention/resolve_layout.h"
#include "attention/resolve_overlap.h"
#include "attention/resolved.h"

namespace volvelle {
namespace {

struct Wanted {
  const char* axes;  // for messages
  DType dtype;
  std::int64_t shape[4];
  int length;  // how many of `shape` count
};

// Lays an array of rank `length`, or without the leading axes that q does not have, out on the
// problem's axes.
Strided4 lay_out(const char* name, const MutableView& array, const Wanted& wanted,
                 const ResolvedAttention& problem) {
  if (!array) return {};
  const View view = array;
  const int dropped = wanted.length - view.rank();
  bool fits = dropped == 0 || dropped == 4 - problem.rank;
  for (int axis = 0; fits && axis < wanted.length; ++axis) {
    fits = (axis < dropped ? 1 : view.shape()[axis - dropped]) == wanted.shape[axis];
  }
  if (!fits) {
    Shape full;
    Shape short_form;
    for (int axis = 0; axis < wanted.length; ++axis) {
      full.push_back(wanted.shape[axis]);
      if (axis >= 4 - problem.rank) short_form.push_back(wanted.shape[axis]);
    }
    refuse(described(name, view) + " must have shape " + wanted.axes + " = " + to_string(full) +
           (problem.rank < 4 ? " or " + to_string(short_form) : std::string()));
  }
  if (view.dtype() != wanted.dtype) {
    refuse(std::string(name) + " is " + std::string(name_of(view.dtype())) + "; it must be " +
           std::string(name_of(wanted.dtype)));
  }
  check_memory({name, view});
  if (!provably_injective(view)) {
    refuse(described(name, view) + " with strides " + to_string(view.strides()) +
           " would be written over itself; give it strides under which no two elements meet");
  }
  Strided4 laid;
  laid.data = view.data();
  laid.dtype = view.dtype();
  laid.present = true;
  for (int axis = dropped; axis < wanted.length; ++axis) {
    const int own = axis - dropped;
    laid.stride[axis] = view.shape()[own] == 1 ? 0 : view.strides()[own];
  }
  return laid;
}

struct Written {
  const char* name;
  const MutableView& view;
  ByteRange range;
};

void check_disjoint(const Written& output, const char* name, const View& other) {
  if (provably_disjoint(output.view, other)) return;
  refuse(std::string(output.name) + " overlaps " + name +
         " in memory; give it an array of its own");
}

void check_overlap(const AttentionProblem& p, const AttentionOutputs& outputs) {
  const Written written[] = {
      {"output", outputs.output, byte_range(outputs.output)},
      {"lse", outputs.lse, byte_range(outputs.lse)},
      {"entropy", outputs.entropy, byte_range(outputs.entropy)},
      {"column_sums", outputs.column_sums, byte_range(outputs.column_sums)},
  };
  const NamedView inputs[] = {
      {"q", p.q},
      {"k", p.k},
      {"v", p.v},
      {"bias", p.bias},
      {"slopes", p.slopes},
      {"bias_table", p.bias_table},
      {"bucket_table", p.bucket_table},
      {"query_positions", p.query_positions},
      {"key_positions", p.key_positions},
      {"sinks", p.sinks},
      {"query_offset", p.query_offset},
      {"key_lengths", p.key_lengths},
      {"query_segments", p.query_segments},
      {"key_segments", p.key_segments},
      {"keep", p.keep},
  };
  for (const NamedView& input : inputs) {
    if (!input.view) continue;
    const ByteRange range = byte_range(input.view);
    for (const Written& output : written) {
      if (output.range.meets(range)) check_disjoint(output, input.name, input.view);
    }
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) {
      if (written[i].range.meets(written[j].range)) {
        check_disjoint(written[i], written[j].name, written[j].view);
      }
    }
  }
}

}  // namespace

ResolvedOutputs resolve_outputs(const ResolvedAttention& problem, const AttentionProblem& views,
                                const AttentionOutputs& outputs) {
  const DType statistic = problem.dtype == DType::float64 ? DType::float64 : DType::float32;
  const std::int64_t b = problem.batch, h = problem.heads;
  const Wanted rows{"(B,H,T)", statistic, {b, h, problem.queries, 1}, 3};
  ResolvedOutputs resolved;
  resolved.output = lay_out(
      "output", outputs.output,
      {"(B,H,T,E)", problem.dtype, {b, h, problem.queries, problem.value_width}, 4}, problem);
  resolved.lse = lay_out("lse", outputs.lse, rows, problem);
  resolved.entropy = lay_out("entropy", outputs.entropy, rows, problem);
  resolved.column_sums = lay_out("column_sums", outputs.column_sums,
                                 {"(B,H,S)", statistic, {b, h, problem.keys, 1}, 3}, problem);
  check_overlap(views, outputs);
  return resolved;
}

}  // namespace volvelle
