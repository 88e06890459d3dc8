#include <algorithm>
#include <cmath>

#include "attention/dropout.h"
#include "attention/resolve_layout.h"
#include "attention/resolve_options.h"
#include "attention/resolve_relative.h"
#include "attention/resolve_rotary.h"
#include "attention/resolve_values.h"
#include "attention/resolved.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

std::string shapes_of(const AttentionProblem& problem) {
  return described("q", problem.q) + ", " + described("k", problem.k) + ", " +
         described("v", problem.v);
}

[[noreturn]] void refuse_equal(const char* axis, const char* left, std::int64_t of_left,
                               const char* right, std::int64_t of_right,
                               const AttentionProblem& problem) {
  refuse(std::string(axis) + " of " + left + " is " + std::to_string(of_left) + " but of " + right +
         " " + std::to_string(of_right) + " (" + shapes_of(problem) + ")");
}

void check_arrays(const AttentionProblem& problem) {
  const NamedView arrays[] = {{"q", problem.q}, {"k", problem.k}, {"v", problem.v}};
  for (const NamedView& array : arrays) {
    if (!array.view) refuse(std::string(array.name) + " is missing; q, k and v are needed");
    const int rank = array.view.rank();
    if (rank < 2 || rank > 4) {
      refuse(described(array.name, array.view) +
             " must have rank 2 (T,D), 3 (H,T,D) or 4 (B,H,T,D)");
    }
    check_floating(array);
    check_memory(array);
  }
  if (problem.q.rank() != problem.k.rank() || problem.q.rank() != problem.v.rank()) {
    refuse("q, k and v must have the same rank (" + shapes_of(problem) + ")");
  }
  const DType dtype = problem.q.dtype();
  if (problem.k.dtype() != dtype || problem.v.dtype() != dtype) {
    refuse("q is " + std::string(name_of(dtype)) + ", k " +
           std::string(name_of(problem.k.dtype())) + ", v " +
           std::string(name_of(problem.v.dtype())) + "; convert them to one type");
  }
}

void check_products(const ResolvedAttention& r, const AttentionProblem& problem) {
  if (r.queries > kLongestAxis || r.keys > kLongestAxis) {
    refuse("T and S must not exceed 2^38 (" + shapes_of(problem) + ")");
  }
  const std::int64_t widest = std::max(r.width, r.value_width);
  const std::int64_t longest = std::max(r.queries, r.keys);
  std::int64_t count = 0;
  if (__builtin_mul_overflow(r.batch, r.heads, &count) ||
      __builtin_mul_overflow(count, std::max<std::int64_t>(longest, 1), &count) ||
      __builtin_mul_overflow(count, widest, &count) ||
      __builtin_mul_overflow(count, std::int64_t{8}, &count)) {
    refuse("the bytes of B*H*T*D or B*H*S*E do not fit 63 bits (" + shapes_of(problem) + ")");
  }
}

void lay_out_arrays(const AttentionProblem& problem, ResolvedAttention& r) {
  check_arrays(problem);
  std::int64_t q[4], k[4], v[4];
  r.q = on_four_axes({"q", problem.q}, q);
  r.k = on_four_axes({"k", problem.k}, k);
  r.v = on_four_axes({"v", problem.v}, v);
  r.rank = problem.q.rank();
  r.dtype = problem.q.dtype();
  r.batch = q[0];
  r.heads = q[1];
  r.queries = q[2];
  r.width = q[3];
  r.key_heads = k[1];
  r.keys = k[2];
  r.value_width = v[3];
  if (k[0] != q[0]) refuse_equal("B", "q", q[0], "k", k[0], problem);
  if (v[0] != q[0]) refuse_equal("B", "q", q[0], "v", v[0], problem);
  if (k[3] != q[3]) refuse_equal("D", "q", q[3], "k", k[3], problem);
  if (v[1] != k[1]) refuse_equal("G", "k", k[1], "v", v[1], problem);
  if (v[2] != k[2]) refuse_equal("S", "k", k[2], "v", v[2], problem);
  if (r.heads < 1 || r.key_heads < 1) {
    refuse("H and G must be at least 1 (" + shapes_of(problem) + ")");
  }
  if (r.width < 1 || r.value_width < 1) {
    refuse("D and E must be at least 1 (" + shapes_of(problem) + ")");
  }
  if (r.heads % r.key_heads != 0) {
    refuse("H=" + std::to_string(r.heads) +
           " is not a multiple of G=" + std::to_string(r.key_heads) + " (" +
           described("q", problem.q) + ", " + described("k", problem.k) + ")");
  }
  check_products(r, problem);
}

// Beyond these the cells of the stream would share words.
void check_stream(const ResolvedAttention& r, const AttentionProblem& problem) {
  if (r.batch > kMostDropoutPlanes || r.heads > kMostDropoutPlanes ||
      r.queries > kMostDropoutTokens || r.keys > kMostDropoutTokens) {
    refuse("dropout takes B and H up to 2^24, T and S up to 2^34 (" + shapes_of(problem) + ")");
  }
}

std::int64_t extent(const char* name, std::int64_t value) {
  if (value < 0) {
    refuse(std::string(name) + " " + std::to_string(value) +
           " is negative; it must be a count, or 0 for none");
  }
  return std::min(value, kLargestExtent);
}

void lay_out_numbers(const AttentionProblem& problem, ResolvedAttention& r) {
  r.scale = problem.scale.value_or(1.0 / std::sqrt(static_cast<double>(r.width)));
  if (!std::isfinite(r.scale)) {
    refuse("scale is " + std::to_string(r.scale) + "; it must be a finite number");
  }
  r.softcap = problem.softcap;
  if (!std::isfinite(r.softcap) || r.softcap < 0) {
    refuse("softcap is " + std::to_string(r.softcap) +
           "; it must be a finite number above 0, or 0 for none");
  }
  r.dropout = problem.dropout;
  r.dropout_seed = problem.dropout_seed;
  if (!(r.dropout >= 0 && r.dropout < 1)) {
    refuse("dropout is " + std::to_string(r.dropout) +
           "; it must be a probability in [0, 1), 0 for none");
  }
  if (r.dropout > 0) check_stream(r, problem);
  r.causal = problem.causal;
  r.window = extent("window", problem.window);
  r.window_right = extent("window_right", problem.window_right);
  r.prefix = extent("prefix", problem.prefix);
  r.chunk = extent("chunk", problem.chunk);
  if (r.prefix > 0 && !r.causal) {
    refuse("prefix " + std::to_string(problem.prefix) +
           " lifts causality, but causal is not set; set causal or drop the prefix");
  }
  r.fixed_offset = problem.alignment == Alignment::top_left ? 0 : r.keys - r.queries;
}

}  // namespace

ResolvedAttention resolve(const AttentionProblem& problem) {
  ResolvedAttention resolved;
  lay_out_arrays(problem, resolved);
  lay_out_numbers(problem, resolved);
  lay_out_biases(problem, resolved);
  lay_out_exclusion(problem, resolved);
  lay_out_rotary(problem, resolved);
  lay_out_relative_vectors(problem, resolved);
  check_offsets(resolved);
  find_reached_entries(resolved);
  return resolved;
}

}  // namespace volvelle
