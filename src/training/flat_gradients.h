#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/nn/module.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The gradients of all parameters in one buffer, one after another in their order, each from a
/// multiple of 64 bytes on. A batch's first shard writes into it; every further one writes into a
/// second buffer, which is then added. So each shard is summed by itself, and the shards in their
/// order, whoever computes them. A parameter that no shard reached has no gradient.
class FlatGradients {
 public:
  /// All of one dtype. The parameters are bound until this is destroyed.
  FlatGradients(std::vector<NamedParameter> parameters, std::int64_t shards);
  ~FlatGradients();
  FlatGradients(const FlatGradients&) = delete;
  FlatGradients& operator=(const FlatGradients&) = delete;

  /// Before a shard's backward pass, shards counted from 0.
  void open(std::int64_t shard);
  /// After it: what it left joins the sum.
  void close(std::int64_t shard);

  /// Of all of them.
  double norm() const;
  View gradient(std::size_t parameter) const { return sum_.parts[parameter].view(); }
  std::int64_t bytes() const;

 private:
  struct Buffer {
    Tensor all;
    std::vector<Tensor> parts;  ///< of each parameter, in `all`
  };
  Buffer make_buffer() const;
  void bind(const Buffer& buffer);
  void clear_unreached(Buffer& buffer);

  std::vector<NamedParameter> parameters_;
  std::vector<bool> reached_;  ///< by any shard so far
  Buffer sum_, next_;
};

}  // namespace volvelle
