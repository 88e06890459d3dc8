#include "attention/resolve_written.h"

#include "tensor/overlap.h"

namespace volvelle {
namespace {

constexpr std::size_t kMostWritten = 11;

void check_disjoint(const WrittenArray& written, const char* name, const View& other,
                    const char* operation) {
  if (provably_disjoint(written.view, other)) return;
  refuse(
      std::string(written.name) + " overlaps " + name + " in memory; give it an array of its own",
      operation);
}

}  // namespace

Strided4 on_problem_axes(const NamedView& array, const WantedShape& wanted,
                         const ResolvedAttention& problem) {
  const View& view = array.view;
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
    refuse(described(array.name, view) + " must have shape " + wanted.axes + " = " +
               to_string(full) +
               (problem.rank < 4 ? " or " + to_string(short_form) : std::string()),
           array.operation);
  }
  check_memory(array);
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

void check_writable(const NamedView& array) {
  check_memory(array);
  if (provably_injective(array.view)) return;
  refuse(described(array.name, array.view) + " with strides " + to_string(array.view.strides()) +
             " would be written over itself; give it strides under which no two elements meet",
         array.operation);
}

void check_overlap(const AttentionProblem& p, std::span<const NamedView> more_inputs,
                   std::span<const WrittenArray> written, const char* operation) {
  ByteRange ranges[kMostWritten];
  for (std::size_t i = 0; i < written.size(); ++i) ranges[i] = byte_range(written[i].view);
  const auto check_input = [&](const NamedView& input) {
    if (!input.view) return;
    const ByteRange range = byte_range(input.view);
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (ranges[i].meets(range)) check_disjoint(written[i], input.name, input.view, operation);
    }
  };
  const NamedView inputs[] = {
      {"q", p.q},
      {"k", p.k},
      {"v", p.v},
      {"relative_keys", p.relative_keys},
      {"relative_queries", p.relative_queries},
      {"relative_values", p.relative_values},
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
      {"rotary.cosines", p.rotary.cosines},
      {"rotary.sines", p.rotary.sines},
      {"rotary.key_cosines", p.rotary.key_cosines},
      {"rotary.key_sines", p.rotary.key_sines},
  };
  for (const NamedView& input : inputs) check_input(input);
  for (const NamedView& input : more_inputs) check_input(input);
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (ranges[i].meets(ranges[j])) {
        check_disjoint(written[i], written[j].name, written[j].view, operation);
      }
    }
  }
}

}  // namespace volvelle
