#include "attention/resolve_written.h"
#include "attention/resolved_backward.h"

namespace volvelle {
namespace {

constexpr const char* kOperation = "attend_backward";

Strided4 lay_out_saved(const char* name, const View& array, const WantedShape& wanted,
                       const ResolvedAttention& problem) {
  if (!array) {
    refuse(std::string(name) +
               " is missing; going back needs the output and log-sum-exp that "
               "attend gave, and grad_output",
           kOperation);
  }
  return on_problem_axes({name, array, kOperation}, wanted, problem);
}

void check_dtype(const char* name, const View& array, DType wanted) {
  if (array.dtype() == wanted) return;
  refuse(std::string(name) + " is " + std::string(name_of(array.dtype())) + "; it must be " +
             std::string(name_of(wanted)) + ", as attend makes it",
         kOperation);
}

// What every gradient obeys: its array is there, its dtype is that array's or the computing type,
// and no two elements meet. False: not asked for.
bool check_gradient(const char* name, const MutableView& gradient, const char* of,
                    const View& array, const ResolvedAttention& problem) {
  if (!gradient) return false;
  if (!array) {
    refuse(std::string(name) + " is given but the problem has no " + of +
               "; leave it out or give the " + of,
           kOperation);
  }
  const DType computing = problem.dtype == DType::float64 ? DType::float64 : DType::float32;
  if (gradient.dtype() != array.dtype() && gradient.dtype() != computing) {
    const std::string own(name_of(array.dtype()));
    refuse(
        std::string(name) + " is " + std::string(name_of(gradient.dtype())) + "; it must be " +
            own +
            (array.dtype() == computing ? std::string() : " or " + std::string(name_of(computing))),
        kOperation);
  }
  const View view = gradient;
  check_writable({name, view, kOperation});
  return true;
}

// The shape of its array exactly.
void check_same_shape(const char* name, const View& gradient, const char* of, const View& array) {
  if (gradient.shape() == array.shape()) return;
  refuse(described(name, gradient) + " must have the shape of " + described(of, array), kOperation);
}

struct Asked {
  const char* name;
  const MutableView& gradient;
  const char* of;
  const View& array;
};

Strided4 lay_out_heads(const Asked& asked, const WantedShape& wanted,
                       const ResolvedAttention& problem) {
  if (!check_gradient(asked.name, asked.gradient, asked.of, asked.array, problem)) return {};
  const View view = asked.gradient;
  return on_problem_axes({asked.name, view, kOperation}, wanted, problem);
}

Strided4 lay_out_bias(const Asked& asked, const ResolvedAttention& problem) {
  if (!check_gradient(asked.name, asked.gradient, asked.of, asked.array, problem)) return {};
  const View view = asked.gradient;
  check_same_shape(asked.name, view, asked.of, asked.array);
  // Without elements there is nothing to write, and strides say nothing about broadcasting.
  if (element_count(view.shape()) == 0) return {};
  const std::int64_t full[4] = {problem.batch, problem.heads, problem.queries, problem.keys};
  return broadcast_to({asked.name, view, kOperation}, full);
}

Strided2 lay_out_table(const Asked& asked, const ResolvedAttention& problem) {
  if (!check_gradient(asked.name, asked.gradient, asked.of, asked.array, problem)) return {};
  const View view = asked.gradient;
  check_same_shape(asked.name, view, asked.of, asked.array);
  const NamedView named{asked.name, view, kOperation};
  return view.rank() == 1 ? one_per(named, 'H', problem.heads) : table_of(named, problem.heads);
}

// A relative vectors' gradient: summed over the batch, and over the heads where they share it.
Strided4 lay_out_vectors(const Asked& asked, const ResolvedAttention& problem) {
  if (!check_gradient(asked.name, asked.gradient, asked.of, asked.array, problem)) return {};
  const View view = asked.gradient;
  check_same_shape(asked.name, view, asked.of, asked.array);
  std::int64_t shape[4];
  return on_four_axes({asked.name, view, kOperation}, shape);
}

}  // namespace

ResolvedBackward resolve_backward(const ResolvedAttention& r, const AttentionProblem& views,
                                  const AttentionSaved& saved, const View& grad_output,
                                  const AttentionGradients& gradients) {
  const WantedShape rows{"(B,H,T,E)", {r.batch, r.heads, r.queries, r.value_width}, 4};
  ResolvedBackward back;
  back.output = lay_out_saved("output", saved.output, rows, r);
  back.lse = lay_out_saved("lse", saved.lse, {"(B,H,T)", {r.batch, r.heads, r.queries, 1}, 3}, r);
  back.grad_output = lay_out_saved("grad_output", grad_output, rows, r);
  check_dtype("output", saved.output, r.dtype);
  check_dtype("lse", saved.lse, r.dtype == DType::float64 ? DType::float64 : DType::float32);
  check_floating({"grad_output", grad_output, kOperation});

  const AttentionGradients& g = gradients;
  back.grad_q = lay_out_heads({"grad_q", g.q, "q", views.q},
                              {"(B,H,T,D)", {r.batch, r.heads, r.queries, r.width}, 4}, r);
  back.grad_k = lay_out_heads({"grad_k", g.k, "k", views.k},
                              {"(B,G,S,D)", {r.batch, r.key_heads, r.keys, r.width}, 4}, r);
  back.grad_v = lay_out_heads({"grad_v", g.v, "v", views.v},
                              {"(B,G,S,E)", {r.batch, r.key_heads, r.keys, r.value_width}, 4}, r);
  back.grad_bias = lay_out_bias({"grad_bias", g.bias, "bias", views.bias}, r);
  back.grad_slopes = lay_out_table({"grad_slopes", g.slopes, "slopes", views.slopes}, r);
  back.grad_sinks = lay_out_table({"grad_sinks", g.sinks, "sinks", views.sinks}, r);
  back.grad_bias_table =
      lay_out_table({"grad_bias_table", g.bias_table, "bias_table", views.bias_table}, r);
  back.grad_bucket_table =
      lay_out_table({"grad_bucket_table", g.bucket_table, "bucket_table", views.bucket_table}, r);
  back.grad_relative_keys = lay_out_vectors(
      {"grad_relative_keys", g.relative_keys, "relative_keys", views.relative_keys}, r);
  back.grad_relative_queries = lay_out_vectors(
      {"grad_relative_queries", g.relative_queries, "relative_queries", views.relative_queries}, r);
  back.grad_relative_values = lay_out_vectors(
      {"grad_relative_values", g.relative_values, "relative_values", views.relative_values}, r);

  const NamedView more[] = {
      {"output", saved.output}, {"lse", saved.lse}, {"grad_output", grad_output}};
  const WrittenArray written[] = {{"grad_q", g.q},
                                  {"grad_k", g.k},
                                  {"grad_v", g.v},
                                  {"grad_bias", g.bias},
                                  {"grad_slopes", g.slopes},
                                  {"grad_bias_table", g.bias_table},
                                  {"grad_sinks", g.sinks},
                                  {"grad_bucket_table", g.bucket_table},
                                  {"grad_relative_keys", g.relative_keys},
                                  {"grad_relative_queries", g.relative_queries},
                                  {"grad_relative_values", g.relative_values}};
  check_overlap(views, more, written, kOperation);
  return back;
}

}  // namespace volvelle
