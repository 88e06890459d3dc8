#include "attention/composed_backward.h"

#include <algorithm>
#include <string>
#include <vector>

#include "attention/composed_backward_memory.h"
#include "attention/composed_gradients.h"
#include "attention/composed_operations.h"
#include "attention/composed_rows.h"
#include "attention/composed_vectors.h"
#include "attention/rotary_rows.h"
#include "base/aligned_memory.h"
#include "base/thread_pool.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

template <class Real>
class ComposedBackward {
 public:
  ComposedBackward(const ResolvedAttention& r, const ResolvedBackward& back)
      : r_(r), back_(back), counts_(r, back), head_bytes_(HeadMemory<Real>::bytes(r, counts_)) {}

  std::size_t head_bytes() const { return head_bytes_; }  // 0: beyond 63 bits

  // Doubles that outlive the heads: the shared sums, then a group's dK and dV.
  std::size_t kept_bytes() const {
    const std::int64_t group = r_.keys * (r_.width + r_.value_width);
    return static_cast<std::size_t>(counts_.of_all(r_) + group) * sizeof(double);
  }

  // Heads are computed `at_once` at a time, each into memory of its own; what they share is then
  // added head by head in order. No bit depends on how many there are at a time.
  void run(int threads, std::size_t at_once, void* kept, void* memory) {
    kept_ = static_cast<double*>(kept);
    std::fill_n(kept_, counts_.of_all(r_), 0.0);
    memory_ = static_cast<char*>(memory);
    const std::int64_t planes = r_.batch * r_.heads;
    const std::int64_t step = static_cast<std::int64_t>(at_once);
    for (std::int64_t plane = 0; plane < planes; plane += step) {
      const std::int64_t count = std::min(step, planes - plane);
      parallel_for(count, threads, [&](std::int64_t slot) { compute(plane + slot, slot); });
      for (std::int64_t slot = 0; slot < count; ++slot) add(plane + slot, slot);
    }
    store_shared();
  }

 private:
  HeadMemory<Real> memory_of(std::int64_t slot) const {
    return HeadMemory<Real>(r_, counts_, memory_ + static_cast<std::size_t>(slot) * head_bytes_);
  }
  SharedSums all_sums() const { return {kept_, counts_, counts_.bias_planes, r_.heads}; }

  void compute(std::int64_t plane, std::int64_t slot) const {
    const std::int64_t b = plane / r_.heads, h = plane % r_.heads, g = r_.key_head(h);
    const HeadMemory<Real> own = memory_of(slot);
    const ComposedHead<Real> head(r_, b, h);
    const ComposedGradients<Real> gradients(r_, back_, b, h);
    head.scores(own.inputs, own.weights);
    head.scale(own.weights);
    head.cap(own.weights);
    gradients.cap_slopes(own.weights, own.slopes);
    head.add_biases(own.weights);
    head.exclude(own.excluded);
    head.exponentials(own.weights, own.excluded, own.maxima);
    head.normalise(own.weights, own.excluded, own.maxima, own.lse);
    gradients.exclude_empty_rows(own.maxima, own.excluded);
    gather_rows(back_.grad_output, b, h, r_.queries, r_.value_width, own.grad_output);
    std::fill_n(own.shared, counts_.of_head(), 0.0);
    if (back_.scores_wanted() || back_.grad_sinks.present) scores(own, gradients, b, h);
    if (back_.grad_v.present || back_.grad_relative_values.present) head.drop(own.weights);
    if (back_.grad_relative_values.present) {
      of_values(b, h).sum_rows(own.weights, own.excluded, own.grad_output,
                               SharedSums(own.shared, counts_, 1, 1).vectors[2]);
    }
    if (back_.grad_v.present) {
      std::fill_n(own.grad_v, r_.keys * r_.value_width, Real{0});
      gradients.sum_over_queries(own.weights, own.excluded, own.grad_output, r_.value_width,
                                 own.grad_v);
      if (r_.heads == r_.key_heads) {
        scatter_rows(back_.grad_v, b, g, r_.keys, r_.value_width, own.grad_v);
      }
    }
    if (back_.grad_k.present && r_.heads == r_.key_heads) {
      scatter_rows(back_.grad_k, b, g, r_.keys, r_.width, own.grad_k);
    }
  }

  ComposedVectors<Real> of_keys(std::int64_t b, std::int64_t h) const {
    return {r_, r_.relative_keys, r_.width, b, h};
  }
  ComposedVectors<Real> of_queries(std::int64_t b, std::int64_t h) const {
    return {r_, r_.relative_queries, r_.width, b, h};
  }
  ComposedVectors<Real> of_values(std::int64_t b, std::int64_t h) const {
    return {r_, r_.relative_values, r_.value_width, b, h};
  }

  // dS and all that follows from it.
  void scores(const HeadMemory<Real>& own, const ComposedGradients<Real>& gradients, std::int64_t b,
              std::int64_t h) const {
    const SharedSums sums(own.shared, counts_, 1, 1);
    gather_rows(back_.output, b, h, r_.queries, r_.value_width, own.output);
    gradients.deltas(own.grad_output, own.output, own.excluded, own.deltas);
    if (back_.grad_sinks.present) gradients.sum_sink(own.lse, own.deltas, sums.sink);
    if (!back_.scores_wanted()) return;
    gather_rows(r_.v, b, r_.key_head(h), r_.keys, r_.value_width, own.values);
    of_values(b, h).gather(own.relative_values(r_));
    gradients.grad_weights(own.grad_output, own.values, own.excluded, own.scores);
    gradients.grad_scores(own.weights, own.deltas, own.excluded, own.scores);
    if (back_.grad_bias.present) {
      gradients.sum_bias(own.scores, sums.bias);
      if (counts_.bias_planes == 0) store_bias(b, h, sums.bias);
    }
    gradients.sum_by_position(own.scores, back_.grad_slopes.present ? sums.slope : nullptr,
                              back_.grad_bias_table.present ? sums.bias_table : nullptr,
                              back_.grad_bucket_table.present ? sums.bucket_table : nullptr);
    if (!back_.grad_q.present && !back_.grad_k.present && !back_.grad_relative_keys.present &&
        !back_.grad_relative_queries.present) {
      return;
    }
    gradients.grad_products(own.slopes, own.scores);
    if (back_.grad_relative_keys.present) {
      of_keys(b, h).sum_rows(own.scores, own.excluded, own.q(), sums.vectors[0]);
    }
    if (back_.grad_relative_queries.present) {
      of_queries(b, h).sum_columns(own.scores, own.excluded, own.k(r_), sums.vectors[1]);
    }
    if (back_.grad_q.present) {
      std::fill_n(own.grad_q, r_.queries * r_.width, Real{0});
      gradients.sum_over_keys(own.scores, own.excluded, own.k(r_), r_.width, own.grad_q);
      of_keys(b, h).sum_into_rows(own.scores, own.excluded, nullptr, own.relative_keys(r_),
                                  own.grad_q);
      turn_rows(r_, {TurnedRows::queries, b, 0, r_.queries}, TurnDirection::back, own.grad_q);
      scatter_rows(back_.grad_q, b, h, r_.queries, r_.width, own.grad_q);
    }
    if (back_.grad_k.present) {
      std::fill_n(own.grad_k, r_.keys * r_.width, Real{0});
      gradients.sum_over_queries(own.scores, own.excluded, own.q(), r_.width, own.grad_k);
      of_queries(b, h).sum_into_columns(own.scores, own.excluded, own.relative_queries(r_),
                                        own.grad_k);
      turn_rows(r_, {TurnedRows::keys, b, 0, r_.keys}, TurnDirection::back, own.grad_k);
    }
  }

  // Adds what a computed head gives to gradients that it shares with other heads.
  void add(std::int64_t plane, std::int64_t slot) {
    const std::int64_t b = plane / r_.heads, h = plane % r_.heads;
    const HeadMemory<Real> own = memory_of(slot);
    if (r_.heads != r_.key_heads) add_to_group(own, b, h);
    const SharedSums from(own.shared, counts_, 1, 1);
    const SharedSums to = all_sums();
    const auto add_all = [](const double* terms, std::int64_t count, double* sums) {
      for (std::int64_t n = 0; n < count; ++n) sums[n] += terms[n];
    };
    if (counts_.bias_planes > 0) {
      const auto& stride = back_.grad_bias.stride;
      const std::int64_t plane_of_bias =
          (stride[0] == 0 ? 0 : b) * (stride[1] == 0 ? 1 : r_.heads) + (stride[1] == 0 ? 0 : h);
      add_all(from.bias, counts_.bias, to.bias + plane_of_bias * counts_.bias);
    }
    add_all(from.bias_table, counts_.bias_table, to.bias_table + h * counts_.bias_table);
    add_all(from.bucket_table, counts_.bucket_table, to.bucket_table + h * counts_.bucket_table);
    for (std::size_t which = 0; which < counts_.vectors.size(); ++which) {
      const std::int64_t head = counts_.vectors_shared[which] ? 0 : h;
      add_all(from.vectors[which], counts_.vectors[which],
              to.vectors[which] + head * counts_.vectors[which]);
    }
    to.slope[h] += *from.slope;
    to.sink[h] += *from.sink;
  }

  // The heads of a group come one after the other; the last one stores their sum.
  void add_to_group(const HeadMemory<Real>& own, std::int64_t b, std::int64_t h) {
    const std::int64_t group = r_.heads / r_.key_heads;
    double* k = kept_ + counts_.of_all(r_);
    double* v = k + r_.keys * r_.width;
    const auto add_one = [&](const Strided4& gradient, std::int64_t width, const Real* from,
                             double* sums) {
      if (!gradient.present) return;
      const std::int64_t count = r_.keys * width;
      if (h % group == 0) std::fill_n(sums, count, 0.0);
      for (std::int64_t n = 0; n < count; ++n) sums[n] += static_cast<double>(from[n]);
      if (h % group == group - 1) {
        scatter_rows(gradient, b, r_.key_head(h), r_.keys, width, sums);
      }
    };
    add_one(back_.grad_k, r_.width, own.grad_k, k);
    add_one(back_.grad_v, r_.value_width, own.grad_v, v);
  }

  void store_bias(std::int64_t b, std::int64_t h, const double* sums) const {
    const Strided4& bias = back_.grad_bias;
    scatter_rows(bias, b, h, bias.stride[2] == 0 ? 1 : r_.queries,
                 bias.stride[3] == 0 ? 1 : r_.keys, sums);
  }

  void store_shared() const {
    const SharedSums sums = all_sums();
    const std::int64_t heads = back_.grad_bias.stride[1] == 0 ? 1 : r_.heads;
    for (std::int64_t plane = 0; plane < counts_.bias_planes; ++plane) {
      store_bias(plane / heads, plane % heads, sums.bias + plane * counts_.bias);
    }
    const auto store_table = [&](const Strided2& array, const double* from) {
      const Strided4 laid{
          array.data, array.dtype, {0, 0, array.stride[0], array.stride[1]}, array.present};
      scatter_rows(laid, 0, 0, r_.heads, array.shape[1], from);
    };
    store_table(back_.grad_bias_table, sums.bias_table);
    store_table(back_.grad_bucket_table, sums.bucket_table);
    store_table(back_.grad_slopes, sums.slope);
    store_table(back_.grad_sinks, sums.sink);
    store_vectors(back_.grad_relative_keys, 0, r_.relative_keys, r_.width);
    store_vectors(back_.grad_relative_queries, 1, r_.relative_queries, r_.width);
    store_vectors(back_.grad_relative_values, 2, r_.relative_values, r_.value_width);
  }

  // Vectors that no pair reaches have gradient 0.
  void store_vectors(const Strided4& gradient, std::size_t which, const RelativeVectors& of,
                     std::int64_t width) const {
    if (!gradient.present) return;
    const double* sums = all_sums().vectors[which];
    const std::vector<double> zero(static_cast<std::size_t>(width), 0.0);
    const std::int64_t heads = counts_.vectors_shared[which] ? 1 : r_.heads;
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t entry = 0; entry < 2 * of.reach + 1; ++entry) {
        const std::int64_t reached = entry - of.first;
        const bool met = reached >= 0 && reached < of.count;
        Strided4 row = gradient;
        row.data =
            static_cast<const char*>(gradient.data) +
            gradient.offset(0, h, entry, 0) * static_cast<std::int64_t>(size_of(gradient.dtype));
        scatter_rows(row, 0, 0, 1, width,
                     met ? sums + (h * of.count + reached) * width : zero.data());
      }
    }
  }

  const ResolvedAttention& r_;
  const ResolvedBackward& back_;
  SharedCounts counts_;
  std::size_t head_bytes_;
  double* kept_ = nullptr;
  char* memory_ = nullptr;
};

template <class Real>
void attend_backward_as(const ResolvedAttention& r, const ResolvedBackward& back, int threads,
                        std::size_t limit_bytes) {
  ComposedBackward<Real> call(r, back);
  const std::size_t kept = call.kept_bytes();
  const std::size_t bytes = call.head_bytes();
  if (bytes == 0 || bytes > limit_bytes || kept > limit_bytes - bytes) {
    throw InvalidArgument(
        "[attend_backward] the composed path keeps one head's T x S = " +
        std::to_string(r.queries) + " x " + std::to_string(r.keys) + " matrices: " +
        (bytes == 0 ? std::string("more than 63 bits of bytes")
                    : std::to_string(bytes + kept) + " bytes") +
        ", above its limit of " + std::to_string(limit_bytes) +
        "; take fewer queries or keys at a time, or the fused path, which keeps no such matrix");
  }
  const std::size_t room = std::max<std::size_t>((limit_bytes - kept) / bytes, 1);
  const std::size_t at_once = std::min(room, static_cast<std::size_t>(threads));
  static thread_local Workspace kept_memory, head_memory;
  void* const sums = kept_memory.at_least(kept);
  call.run(threads, at_once, sums, head_memory.at_least(at_once * bytes));
}

}  // namespace

void attend_backward_composed(const ResolvedAttention& problem, const ResolvedBackward& backward,
                              int threads, std::size_t limit_bytes) {
  if (problem.dtype == DType::float64) {
    attend_backward_as<double>(problem, backward, threads, limit_bytes);
  } else {
    attend_backward_as<float>(problem, backward, threads, limit_bytes);
  }
}

}  // namespace volvelle
