#pragma once

#include <memory>
#include <string>
#include <utility>

#include "volvelle/io/arrays.h"
#include "volvelle/nn/module.h"
#include "volvelle/ops/activation.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/ops/linear_variable.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/training/trainer.h"

namespace volvelle::testing {

/// The network of tests/golden/make_training.py: logits = W2 relu(W1 x + b1) + b2.
class SmallNetwork : public Module {
 public:
  explicit SmallNetwork(const NamedArrays& arrays, DType dtype = DType::float64) {
    const std::pair<const char*, Variable*> members[] = {
        {"w1", &w1}, {"b1", &b1}, {"w2", &w2}, {"b2", &b2}};
    for (const auto& [name, member] : members) {
      *member = Variable(converted(find_array(arrays, name)->view(), dtype), true);
      add_parameter("layers.0." + std::string(name), *member);
    }
  }

  Variable logits(const Variable& x) const {
    return linear(linear(x, w1, b1, {.activation = Activation::relu}), w2, b2);
  }

  Variable w1, b1, w2, b2;
};

/// Rows [first, last) of an array along its first axis, in another dtype.
inline Tensor rows(const Tensor& array, std::int64_t first, std::int64_t last, DType dtype) {
  Shape shape = array.shape();
  shape[0] = last - first;
  const std::int64_t row = array.size() / array.shape()[0];
  const auto* start = static_cast<const std::byte*>(array.raw()) +
                      static_cast<std::size_t>(first * row) * size_of(array.dtype());
  return converted(View(start, array.dtype(), shape), dtype);
}

/// The numbers of a step of the golden runs: x (6,5) and labels (6).
struct GoldenBatch {
  Tensor x, labels;
  GoldenBatch(const NamedArrays& arrays, std::int64_t step, DType dtype)
      : x(rows(*find_array(arrays, "x"), step, step + 1, dtype).reshaped({6, 5})),
        labels(rows(*find_array(arrays, "labels"), step, step + 1, DType::int64).reshaped({6})) {}

  /// The share of one shard: so many rows of the batch, whose mean is over all six.
  ShardLoss loss(const SmallNetwork& network) const {
    return [this, &network](std::int64_t shard, std::int64_t shards, const ForwardOptions&) {
      const std::int64_t first = 6 * shard / shards, last = 6 * (shard + 1) / shards;
      const Variable part(rows(x, first, last, x.dtype()));
      return cross_entropy(network.logits(part), rows(labels, first, last, DType::int64).view(),
                           {.count = 6});
    };
  }
};

}  // namespace volvelle::testing
