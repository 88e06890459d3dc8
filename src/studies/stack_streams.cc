#include "studies/stack_streams.h"

#include <cmath>

#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

// Root mean square length of the rows of a matrix, up to a factor that rows share.
double length_of(const std::vector<double>& numbers) {
  double squares = 0;
  for (const double x : numbers) squares += x * x;
  return std::sqrt(squares);
}

std::vector<double> numbers_of(const Variable& variable) {
  const float* data = variable.value().data<float>();
  return {data, data + variable.size()};
}

// What a norm with its initial parameters does to each token: mean 0, variance 1.
void normalize_rows(std::vector<double>& numbers, std::int64_t width) {
  for (std::size_t row = 0; row < numbers.size(); row += static_cast<std::size_t>(width)) {
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < width; ++i) mean += numbers[row + static_cast<std::size_t>(i)];
    mean /= static_cast<double>(width);
    for (std::int64_t i = 0; i < width; ++i) {
      double& x = numbers[row + static_cast<std::size_t>(i)];
      x -= mean;
      variance += x * x / static_cast<double>(width);
    }
    const double scale = 1 / std::sqrt(variance + 1e-5);
    for (std::int64_t i = 0; i < width; ++i) numbers[row + static_cast<std::size_t>(i)] *= scale;
  }
}

// Adds a branch; returns its length over that of the sum.
double add_branch(std::vector<double>& stream, const Variable& branch) {
  const std::vector<double> added = numbers_of(branch);
  for (std::size_t i = 0; i < stream.size(); ++i) stream[i] += added[i];
  return length_of(added) / length_of(stream);
}

// A stack of one layer is one layer of a stack.
struct OneLayer {
  Stack block;
  Variable x;

  LayerStream run(const StackStreamOptions& options, double initial_length) {
    StackTrace trace;
    std::vector<double> stream = numbers_of(x);
    const NoGrad off;
    x = block.forward(x, {.threads = options.threads}, &trace);
    const std::vector<Variable>& branches = trace.branches.at(0);
    if (branches.size() != 2) {
      throw InternalError("[stream-growth] a block of two branches has " +
                          std::to_string(branches.size()) + "; please report this");
    }
    LayerStream layer;
    layer.attention_share = add_branch(stream, branches[0]);
    if (block.options().placement == "post") normalize_rows(stream, block.options().width);
    layer.feed_forward_share = add_branch(stream, branches[1]);
    layer.length = length_of(numbers_of(x)) / initial_length;
    return layer;
  }
};

}  // namespace

StackStreams measure_stack_streams(const StackStreamOptions& options,
                                   const std::function<bool(std::int64_t)>& begins) {
  StackOptions block = options.block;
  block.layers = 1;
  block.final_norm = FinalNorm::no;
  const auto random = make_initializer({.stream = options.stream, .seed = options.seed});
  Variable x(Tensor(DType::float32, Shape{options.batch, options.tokens, block.width}));
  random->normal(x);
  const double initial = length_of(numbers_of(x));
  Variable pre = x, post = x;
  StackStreams streams;
  for (std::int64_t layer = 0; layer < options.layers && begins(layer); ++layer) {
    block.placement = "pre";
    OneLayer before{Stack(block), pre};
    before.block.initialize(*random);
    block.placement = "post";
    OneLayer after{Stack(block), post};
    share_values(after.block, before.block);
    streams.pre.push_back(before.run(options, initial));
    streams.post.push_back(after.run(options, initial));
    pre = before.x;
    post = after.x;
  }
  return streams;
}

}  // namespace volvelle
