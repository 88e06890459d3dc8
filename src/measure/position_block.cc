// Attention between its projections with a position scheme, forward and backward.
#include <algorithm>
#include <cmath>
#include <string>

#include "measure/position_work.h"
#include "measure/positioned_attention.h"
#include "measure/random_array.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/multi_head_attention.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

// Tokens that the float64 twin goes over: enough for every branch of the kernels.
constexpr std::int64_t kCheckedTokens = 97;
constexpr double kMostApart = 1e-4;

std::shared_ptr<MultiHeadAttention> made(const PositionCase& one, DType dtype) {
  const AttentionCase& shape = one.shape;
  MultiHeadAttentionOptions options{.width = shape.heads * shape.head_width,
                                    .heads = shape.heads,
                                    .key_heads = shape.key_heads,
                                    .head_width = shape.head_width,
                                    .causal = true,
                                    .dtype = dtype};
  if (one.scheme != "none") {
    scheme_of_attention(one.scheme, shape);
    options.positions = make_positions(one.scheme, {.width = options.width,
                                                    .heads = shape.heads,
                                                    .head_width = shape.head_width,
                                                    .key_heads = shape.key_heads,
                                                    .dtype = dtype});
  }
  auto block = std::make_shared<MultiHeadAttention>(options);
  const auto initializer = make_initializer({.seed = 1});
  block->initialize(*initializer);
  if (options.positions) options.positions->initialize(*initializer);
  return block;
}

double relative_difference(const Tensor& a, const Tensor& b) {
  const Tensor wide = converted(a.view(), DType::float64);
  double apart = 0, all = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) {
    const double right = b.data<double>()[i];
    const double difference = wide.data<double>()[i] - right;
    apart += difference * difference;
    all += right * right;
  }
  return all > 0 ? std::sqrt(apart / all) : std::sqrt(apart);
}

class BlockTask : public PositionTask {
 public:
  BlockTask(const PositionCase& one, int threads)
      : one_(one), block_(made(one, DType::float32)), how_{.training = true, .threads = threads} {
    x_ = tokens(one.shape.queries, DType::float32);
    seed_ = random_array(DType::float32, x_.shape(), 2);
  }

  void run() override { forward_and_back(*block_, x_, seed_); }

  double check() override {
    const std::int64_t count = std::min(kCheckedTokens, one_.shape.queries);
    const auto twin = made(one_, DType::float64);
    const Tensor seed = random_array(DType::float32, {one_.shape.batch, count, width()}, 3);
    Variable ours = tokens(count, DType::float32);
    Variable right = tokens(count, DType::float64);
    const Variable output = forward_and_back(*block_, ours, seed);
    const Variable wanted = forward_and_back(*twin, right, converted(seed.view(), DType::float64));
    double worst = checked("output", output.value(), wanted.value());
    worst = std::max(worst, checked("gradient of the input", ours.grad(), right.grad()));
    const auto parameters = block_->parameters(), others = twin->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      worst = std::max(worst, checked(parameters[i].name, parameters[i].variable.grad(),
                                      others[i].variable.grad()));
    }
    return worst;
  }

 private:
  std::int64_t width() const { return one_.shape.heads * one_.shape.head_width; }

  Variable tokens(std::int64_t count, DType dtype) const {
    const Tensor x = random_array(DType::float32, {one_.shape.batch, count, width()}, 1);
    return Variable(dtype == DType::float32 ? x : converted(x.view(), dtype), true);
  }

  Variable forward_and_back(MultiHeadAttention& block, Variable& x, const Tensor& seed) const {
    for (NamedParameter& parameter : block.parameters()) parameter.variable.clear_grad();
    x.clear_grad();
    const Variable output = block.forward(x, how_);
    backward(output, seed.view());
    return output;
  }

  double checked(const std::string& name, const Tensor& ours, const Tensor& right) const {
    const double apart = relative_difference(ours, right);
    if (!(apart <= kMostApart)) {
      throw InternalError("[bench] the " + name + " of a block with '" + one_.scheme +
                          "' is off by " + std::to_string(apart) +
                          " of itself from that in float64; please report this");
    }
    return apart;
  }

  PositionCase one_;
  std::shared_ptr<MultiHeadAttention> block_;
  ForwardOptions how_;
  Variable x_;
  Tensor seed_;
};

}  // namespace

std::unique_ptr<PositionTask> block_task(const PositionCase& one, int threads) {
  return std::make_unique<BlockTask>(one, threads);
}

}  // namespace volvelle
