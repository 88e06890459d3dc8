#include "support/gradients.h"

#include <cmath>
#include <cstring>
#include <sstream>

#include "attention/fused_backward.h"
#include "support/tolerance.h"

namespace volvelle::testing {
namespace {

Gradients room_for(const AttentionProblem& problem, GradientType type) {
  const bool wide = problem.q.dtype() == DType::float64;
  Gradients room;
  for (const NamedGradient& gradient : named_gradients()) {
    const View& of = problem.*gradient.of;
    if (!of) continue;
    const DType computing = wide ? DType::float64 : DType::float32;
    // Litter, so that what is not written shows.
    room.*gradient.array = filled(type == GradientType::own ? of.dtype() : computing, of.shape(),
                                  [] { return std::nan(""); });
  }
  return room;
}

bool fused_backward_is_there() {
  const Made made = make(Recipe{});
  return fused_backward_refusal(resolve(made.problem), ResolvedBackward{}) == nullptr;
}

}  // namespace

AttentionGradients views_of(Gradients& g) {
  return {.q = g.q.mutable_view(),
          .k = g.k.mutable_view(),
          .v = g.v.mutable_view(),
          .bias = g.bias.mutable_view(),
          .slopes = g.slopes.mutable_view(),
          .bias_table = g.bias_table.mutable_view(),
          .bucket_table = g.bucket_table.mutable_view(),
          .sinks = g.sinks.mutable_view(),
          .relative_keys = g.relative_keys.mutable_view(),
          .relative_queries = g.relative_queries.mutable_view(),
          .relative_values = g.relative_values.mutable_view()};
}

const std::vector<NamedGradient>& named_gradients() {
  using G = Gradients;
  using P = AttentionProblem;
  static const std::vector<NamedGradient> all = {
      {"q", &G::q, &P::q},
      {"k", &G::k, &P::k},
      {"v", &G::v, &P::v},
      {"bias", &G::bias, &P::bias},
      {"slopes", &G::slopes, &P::slopes},
      {"bias_table", &G::bias_table, &P::bias_table},
      {"bucket_table", &G::bucket_table, &P::bucket_table},
      {"sinks", &G::sinks, &P::sinks},
      {"relative_keys", &G::relative_keys, &P::relative_keys},
      {"relative_queries", &G::relative_queries, &P::relative_queries},
      {"relative_values", &G::relative_values, &P::relative_values}};
  return all;
}

std::vector<Route> gradient_routes() {
  std::vector<Route> all;
  if (fused_backward_is_there()) all = fused_routes();
  all.push_back({"composed", AttentionPath::composed, {}});
  return all;
}

std::vector<Route> gradient_routes_of(const AttentionProblem& problem) {
  std::vector<Route> all = routes_of(problem);
  if (explain_backward(problem).path == AttentionPath::composed) all = {all.back()};
  return all;
}

Gradients gradients(const AttentionProblem& problem, const View& grad_output, const Route& route,
                    int threads, GradientType type) {
  const Answer saved = answer(problem, route, threads);
  const SimdScope scope(route.simd.empty() ? "best" : route.simd);
  Gradients result = room_for(problem, type);
  attend_backward(problem, {.output = saved.output.view(), .lse = saved.lse.view()}, grad_output,
                  views_of(result), {.path = route.path, .threads = threads});
  return result;
}

Gradients oracle_gradients(const AttentionProblem& problem, const View& grad_output,
                           BackwardFault fault, GradientSum sum) {
  const Answer saved = oracle_answer(problem);
  Gradients result = room_for(problem, GradientType::computing);
  const ResolvedAttention resolved = resolve(problem);
  attend_backward_oracle(
      resolved,
      resolve_backward(resolved, problem, {.output = saved.output.view(), .lse = saved.lse.view()},
                       grad_output, views_of(result)),
      fault, sum);
  return result;
}

std::string gradient_difference(const AttentionProblem& problem, const View& grad_output,
                                const Gradients& ours, const Gradients& right) {
  const ResolvedAttention r = resolve(problem);
  const Sizes sizes = sizes_of(problem, oracle_answer(problem));
  const Gradients magnitudes =
      oracle_gradients(problem, grad_output, BackwardFault::none, GradientSum::magnitudes);
  const std::int64_t group = r.heads / r.key_heads;
  for (const NamedGradient& gradient : named_gradients()) {
    const Tensor& mine = ours.*gradient.array;
    if (!mine) continue;
    const std::string name = gradient.name;
    const std::int64_t terms = name == "q"                  ? r.keys
                               : name == "k" || name == "v" ? group * r.queries
                                                            : r.queries + r.keys;
    const std::vector<double> a = values_of(mine.view());
    const std::vector<double> b = values_of((right.*gradient.array).view());
    const std::vector<double> magnitude = values_of((magnitudes.*gradient.array).view());
    for (std::size_t n = 0; n < a.size(); ++n) {
      const Allowed allowed = allowed_gradient(sizes, terms, magnitude[n], mine.dtype());
      if (near(a[n], b[n], allowed)) continue;
      std::ostringstream text;
      text.precision(17);
      text << "gradient of " << name << to_string(mine.shape()) << " element " << n << ": " << a[n]
           << ", right " << b[n] << ", allowed " << allowed.absolute << " + " << allowed.relative
           << " * |right|";
      return text.str();
    }
  }
  return {};
}

std::string bit_difference(const Gradients& a, const Gradients& b) {
  for (const NamedGradient& gradient : named_gradients()) {
    const Tensor& x = a.*gradient.array;
    const Tensor& y = b.*gradient.array;
    if (x.bytes() != y.bytes()) return gradient.name;
    if (x.bytes() > 0 && std::memcmp(x.raw(), y.raw(), x.bytes()) != 0) return gradient.name;
  }
  return {};
}

}  // namespace volvelle::testing
