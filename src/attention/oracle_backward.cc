#include "attention/oracle_backward.h"

#include <algorithm>
#include <cstdlib>

#include "attention/oracle_gradient_row.h"
#include "attention/oracle_turns.h"
#include "volvelle/attention/buckets.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

// Doubles that begin at 0; none where they are not wanted. Memory that cannot be had is an IoError.
class Sums {
 public:
  Sums() = default;
  Sums(bool wanted, std::int64_t count)
      : memory_(wanted ? Tensor::zeros(DType::float64, {count}) : Tensor()),
        data_(static_cast<double*>(memory_.raw())) {}
  double& operator[](std::int64_t n) { return data_[n]; }
  const double* data() const { return data_; }

 private:
  Tensor memory_;
  double* data_ = nullptr;
};

// A dense bias's gradient: its extents are 1 along the axes that are summed over.
struct BiasSums {
  BiasSums(const ResolvedAttention& r, const Strided4& array) {
    const std::int64_t full[4] = {r.batch, r.heads, r.queries, r.keys};
    std::int64_t count = 1;
    for (int axis = 0; axis < 4; ++axis) {
      // A stride of 0 on a longer axis: summed over. No element is written twice.
      summed[axis] = array.stride[axis] == 0;
      extent[axis] = summed[axis] ? 1 : full[axis];
      count *= extent[axis];
    }
    sums = Sums(array.present, count);
  }

  void add(const Pair& at, double score, bool first_slice_only) {
    const std::int64_t place[4] = {at.b, at.h, at.i, at.j};
    std::int64_t index = 0;
    for (int axis = 0; axis < 4; ++axis) {
      if (first_slice_only && summed[axis] && place[axis] > 0) return;
      index = index * extent[axis] + (summed[axis] ? 0 : place[axis]);
    }
    sums[index] += score;
  }

  bool summed[4];
  std::int64_t extent[4];
  Sums sums;
};

void store_heads(const Strided4& array, const std::int64_t extent[4], const Sums& sums,
                 double left) {
  if (!array.present) return;
  const double* value = sums.data();
  for (std::int64_t a = 0; a < extent[0]; ++a) {
    for (std::int64_t b = 0; b < extent[1]; ++b) {
      for (std::int64_t c = 0; c < extent[2]; ++c) {
        for (std::int64_t d = 0; d < extent[3]; ++d) {
          store_rounded(array, array.offset(a, b, c, d), left * *value++);
        }
      }
    }
  }
}

void store_table(const Strided2& array, const Sums& sums, double left) {
  if (!array.present) return;
  const Strided4 laid{array.data, array.dtype, {array.stride[0], array.stride[1], 0, 0}, true};
  const std::int64_t extent[4] = {array.shape[0], array.shape[1], 1, 1};
  store_heads(laid, extent, sums, left);
}

// The gradient of relative vectors: (1 or H, 2M+1, width).
struct VectorSums {
  VectorSums(const ResolvedAttention& r, const RelativeVectors& of, const Strided4& array,
             std::int64_t width)
      : vectors(of),
        to(array),
        extent{1, array.stride[1] == 0 ? 1 : r.heads, 2 * of.reach + 1, width} {
    sums = Sums(array.present, extent[1] * extent[2] * width);
  }
  /// Of the vector that the pair meets.
  double* of(const ResolvedAttention& r, const Pair& at) {
    const std::int64_t head = extent[1] == 1 ? 0 : at.h;
    return &sums[(head * extent[2] + relative_entry(r, vectors, at)) * extent[3]];
  }
  void store(double left) const { store_heads(to, extent, sums, left); }

  const RelativeVectors& vectors;
  const Strided4& to;
  std::int64_t extent[4];
  Sums sums;
};

class AllSums {
 public:
  AllSums(const ResolvedAttention& r, const ResolvedBackward& back, BackwardFault fault)
      : r_(r),
        back_(back),
        fault_(fault),
        q_(back.grad_q.present, r.batch * r.heads * r.queries * r.width),
        k_(back.grad_k.present, r.batch * r.key_heads * r.keys * r.width),
        v_(back.grad_v.present, r.batch * r.key_heads * r.keys * r.value_width),
        slopes_(back.grad_slopes.present, r.heads),
        sinks_(back.grad_sinks.present, r.heads),
        bias_table_(back.grad_bias_table.present, r.heads * r.bias_table.shape[1]),
        bucket_table_(back.grad_bucket_table.present, r.heads * r.bucket_table.shape[1]),
        bias_(r, back.grad_bias),
        relative_keys_(r, r.relative_keys, back.grad_relative_keys, r.width),
        relative_queries_(r, r.relative_queries, back.grad_relative_queries, r.width),
        relative_values_(r, r.relative_values, back.grad_relative_values, r.value_width) {}

  void add(const GradientRow& row, std::int64_t b, std::int64_t h, std::int64_t i) {
    if (row.empty()) return;
    if (back_.grad_sinks.present) sinks_[h] += row.sink();
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      if (!row.sees(j)) continue;
      const Pair at{b, h, i, j};
      add_products(row, at);
      add_by_position(row, at);
      add_vectors(row, at);
      if (back_.grad_bias.present) {
        bias_.add(at, row.score(j), fault_ == BackwardFault::bias_not_summed);
      }
    }
  }

  /// Gradients of turned rows become those of the rows that were given; `given` has the turns.
  void turn_back(const ResolvedAttention& given, GradientSum sum) {
    const TurnDirection direction =
        sum == GradientSum::terms ? TurnDirection::back : TurnDirection::magnitudes;
    for (std::int64_t b = 0; b < r_.batch; ++b) {
      for (std::int64_t h = 0; back_.grad_q.present && h < r_.heads; ++h) {
        turn_rows(given, {TurnedRows::queries, b, 0, r_.queries}, direction,
                  &q_[(b * r_.heads + h) * r_.queries * r_.width]);
      }
      for (std::int64_t g = 0; back_.grad_k.present && g < r_.key_heads; ++g) {
        turn_rows(given, {TurnedRows::keys, b, 0, r_.keys}, direction,
                  &k_[(b * r_.key_heads + g) * r_.keys * r_.width]);
      }
    }
  }

  void store() const {
    using F = BackwardFault;
    const std::int64_t q[4] = {r_.batch, r_.heads, r_.queries, r_.width};
    const std::int64_t k[4] = {r_.batch, r_.key_heads, r_.keys, r_.width};
    const std::int64_t v[4] = {r_.batch, r_.key_heads, r_.keys, r_.value_width};
    store_heads(back_.grad_q, q, q_, left_by(fault_, F::q_halved, F::q_dropped));
    store_heads(back_.grad_k, k, k_, left_by(fault_, F::k_halved, F::k_dropped));
    store_heads(back_.grad_v, v, v_, left_by(fault_, F::v_halved, F::v_dropped));
    store_heads(back_.grad_bias, bias_.extent, bias_.sums,
                left_by(fault_, F::bias_halved, F::bias_dropped));
    store_table(back_.grad_slopes, slopes_, left_by(fault_, F::slopes_halved, F::slopes_dropped));
    store_table(back_.grad_sinks, sinks_, left_by(fault_, F::sinks_halved, F::sinks_dropped));
    store_table(back_.grad_bias_table, bias_table_,
                left_by(fault_, F::bias_table_halved, F::bias_table_dropped));
    store_table(back_.grad_bucket_table, bucket_table_,
                left_by(fault_, F::bucket_table_halved, F::bucket_table_dropped));
    relative_keys_.store(left_by(fault_, F::relative_keys_halved, F::relative_keys_dropped));
    relative_queries_.store(
        left_by(fault_, F::relative_queries_halved, F::relative_queries_dropped));
    relative_values_.store(left_by(fault_, F::relative_values_halved, F::relative_values_dropped));
  }

 private:
  void add_products(const GradientRow& row, const Pair& at) {
    const double product = row.product(at.j);
    const std::int64_t g = r_.key_head(at.h);
    const std::int64_t query = ((at.b * r_.heads + at.h) * r_.queries + at.i) * r_.width;
    const std::int64_t key = (at.b * r_.key_heads + g) * r_.keys + at.j;
    const bool first_of_group = at.h % (r_.heads / r_.key_heads) == 0;
    const bool reaches_keys = first_of_group || fault_ != BackwardFault::key_heads_not_summed;
    for (std::int64_t d = 0; d < r_.width; ++d) {
      if (back_.grad_q.present) {
        q_[query + d] += product * row.term(element(r_.k, r_.k.offset(at.b, g, at.j, d)));
        if (r_.relative_keys.present()) {
          q_[query + d] += product * row.term(relative_element(r_, r_.relative_keys, at, d));
        }
      }
      if (back_.grad_k.present && reaches_keys) {
        k_[key * r_.width + d] +=
            product * row.term(element(r_.q, r_.q.offset(at.b, at.h, at.i, d)));
        if (r_.relative_queries.present()) {
          k_[key * r_.width + d] +=
              product * row.term(relative_element(r_, r_.relative_queries, at, d));
        }
      }
    }
    if (!back_.grad_v.present || !reaches_keys) return;
    const double share = row.value_share(at.j);
    for (std::int64_t e = 0; e < r_.value_width; ++e) {
      v_[key * r_.value_width + e] += share * row.grad_output(e);
    }
  }

  void add_vectors(const GradientRow& row, const Pair& at) {
    const std::int64_t g = r_.key_head(at.h);
    const double product = row.product(at.j);
    const double share = row.value_share(at.j);
    if (back_.grad_relative_keys.present) {
      double* to = relative_keys_.of(r_, at);
      for (std::int64_t d = 0; d < r_.width; ++d) {
        to[d] += product * row.term(element(r_.q, r_.q.offset(at.b, at.h, at.i, d)));
      }
    }
    if (back_.grad_relative_queries.present) {
      double* to = relative_queries_.of(r_, at);
      for (std::int64_t d = 0; d < r_.width; ++d) {
        to[d] += product * row.term(element(r_.k, r_.k.offset(at.b, g, at.j, d)));
      }
    }
    if (back_.grad_relative_values.present) {
      double* to = relative_values_.of(r_, at);
      for (std::int64_t e = 0; e < r_.value_width; ++e) to[e] += share * row.grad_output(e);
    }
  }

  void add_by_position(const GradientRow& row, const Pair& at) {
    if (!back_.grad_slopes.present && !back_.grad_bias_table.present &&
        !back_.grad_bucket_table.present) {
      return;
    }
    const std::int64_t offset = key_position(r_, at.b, at.j) - query_position(r_, at.b, at.i);
    const double score = row.score(at.j);
    if (back_.grad_slopes.present) {
      slopes_[at.h] += row.term(-static_cast<double>(std::abs(offset))) * score;
    }
    if (back_.grad_bias_table.present) {
      const std::int64_t m = r_.bias_table.shape[1] / 2;
      const std::int64_t entry = std::clamp(offset, -m, m) + m;
      bias_table_[at.h * (2 * m + 1) + entry] += score;
    }
    if (back_.grad_bucket_table.present) {
      const std::int64_t count = r_.bucket_table.shape[1];
      const std::int64_t bucket = bucket_of(offset, r_.buckets, count, r_.max_distance);
      bucket_table_[at.h * count + bucket] += score;
    }
  }

  const ResolvedAttention& r_;
  const ResolvedBackward& back_;
  BackwardFault fault_;
  Sums q_, k_, v_, slopes_, sinks_, bias_table_, bucket_table_;
  BiasSums bias_;
  VectorSums relative_keys_, relative_queries_, relative_values_;
};

}  // namespace

void attend_backward_oracle(const ResolvedAttention& given, const ResolvedBackward& backward,
                            BackwardFault fault, GradientSum sum) {
  OracleTurns turns(given);
  const ResolvedAttention& r = turns.problem();
  AllSums sums(r, backward, fault);
  GradientRow row(r, backward, fault, sum);
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t h = 0; h < r.heads; ++h) {
      turns.select(b, h);
      for (std::int64_t i = 0; i < r.queries; ++i) {
        row.compute(b, h, i);
        sums.add(row, b, h, i);
      }
    }
  }
  if (fault != BackwardFault::turn_back_missing) sums.turn_back(given, sum);
  sums.store();
}

}  // namespace volvelle
