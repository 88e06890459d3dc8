#include "volvelle/nn/stack.h"

#include <cmath>
#include <string>
#include <utility>

#include "nn/dropout_place.h"
#include "nn/parameter.h"
#include "nn/parameter_size.h"
#include "nn/stack_positions.h"
#include "nn/stack_sizes.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/autograd/recompute.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/nn/block.h"
#include "volvelle/nn/placement.h"
#include "volvelle/nn/positions/scheme.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[stack] " + text); }

void check_sizes(const StackOptions& options) {
  check_layers(options.layers);
  check_size("stack", "width", options.width);
  check_size("stack", "heads", options.heads);
  check_size("stack", "feed_forward", options.feed_forward);
  if (options.head_width < 0) check_size("stack", "head_width", options.head_width);
  if (options.key_heads < 0) check_size("stack", "key_heads", options.key_heads);
  if (options.head_width == 0 && options.width % options.heads != 0) {
    refuse("width=" + std::to_string(options.width) + " is not a multiple of heads=" +
           std::to_string(options.heads) + "; choose another number of heads or give head_width");
  }
  if (!std::isfinite(options.epsilon) || options.epsilon < 0) {
    refuse("epsilon " + std::to_string(options.epsilon) + " must be finite and not negative");
  }
  check_dropout("stack", options.dropout);
}

double parameters_of(const StackOptions& options, const std::vector<NormPlacement>& placements) {
  double count = 0;
  for (const NormPlacement& placement : placements) count += block_parameters(options, placement);
  return count;
}

}  // namespace

struct Stack::Parts {
  StackOptions options;
  // Shared with the tape, which runs a block again where activations are recomputed.
  std::vector<std::shared_ptr<Block>> blocks;
  std::vector<LayerPositions> positions;
  std::unique_ptr<Norm> norm;
  double initial_factor = 1;

  Variable run(std::int64_t layer, const Variable& x, const ForwardOptions& how,
               StackTrace* trace) const;
};

Stack::Stack(const StackOptions& options) : parts_(std::make_unique<Parts>()) {
  check_sizes(options);
  const std::vector<NormPlacement> placements =
      placements_by_layer(options.placement, options.layers);
  check_parameters_fit("stack", parameters_of(options, placements), options.dtype);
  parts_->options = options;
  parts_->positions = make_stack_positions(options);
  for (std::size_t layer = 0; layer < placements.size(); ++layer) {
    const NormPlacement& placement = placements[layer];
    StackOptions own = options;
    own.positions = "none";  // said by the scheme
    parts_->blocks.push_back(
        std::make_shared<Block>(own, placement, parts_->positions[layer].scheme));
    add_module("layers." + std::to_string(layer), *parts_->blocks.back());
    if (has_depth_factor(placement)) {
      parts_->initial_factor = depth_factors(options.layers).beta;
    }
  }
  const bool normalised = leaves_stream_normalised(placements.back());
  if (options.final_norm == FinalNorm::yes ||
      (options.final_norm == FinalNorm::automatic && !normalised)) {
    parts_->norm = make_norm(options.norm, options.width, options.epsilon, options.dtype);
    add_module("norm", *parts_->norm);
  }
}

Stack::~Stack() = default;

const StackOptions& Stack::options() const noexcept { return parts_->options; }
const PositionScheme* Stack::positions(std::int64_t layer) const {
  if (layer < 0 || layer >= parts_->options.layers) {
    refuse("layer " + std::to_string(layer) + " is not one of " +
           std::to_string(parts_->options.layers));
  }
  return parts_->positions[static_cast<std::size_t>(layer)].scheme.get();
}

std::vector<const MultiHeadAttention*> Stack::attentions() const {
  std::vector<const MultiHeadAttention*> all;
  for (const std::shared_ptr<Block>& block : parts_->blocks) {
    for (const MultiHeadAttention* attention : block->attentions()) all.push_back(attention);
  }
  return all;
}

bool Stack::has_final_norm() const noexcept { return parts_->norm != nullptr; }
double Stack::initial_factor() const noexcept { return parts_->initial_factor; }

Variable Stack::Parts::run(std::int64_t layer, const Variable& x, const ForwardOptions& how,
                           StackTrace* trace) const {
  const std::shared_ptr<Block>& block = blocks[static_cast<std::size_t>(layer)];
  const ForwardOptions own = at_place(how, layer);
  if (trace != nullptr) {
    trace->inputs.push_back(x);
    return block->forward(x, own, &trace->branches.emplace_back());
  }
  if (!options.recompute || !is_grad_enabled()) return block->forward(x, own);
  return recompute(
      [block, own](const std::vector<Variable>& in) { return block->forward(in[0], own); }, {x});
}

Variable Stack::forward(const Variable& x, const ForwardOptions& how, StackTrace* trace) const {
  const Parts& parts = *parts_;
  if (!x || x.rank() < 2 || x.rank() > 3 || x.shape()[x.rank() - 1] != parts.options.width ||
      x.dtype() != parts.options.dtype) {
    refuse("x " +
           (x ? to_string(x.shape()) + " " + std::string(name_of(x.dtype()))
              : std::string("(absent)")) +
           " must be (B,T,C) with C=" + std::to_string(parts.options.width) + ", " +
           std::string(name_of(parts.options.dtype)) + " as the parameters are");
  }
  if (trace != nullptr) {
    if (parts.options.recompute && is_grad_enabled()) {
      refuse(
          "a trace keeps every branch, which recompute throws away: turn one of them off, or "
          "trace under NoGrad");
    }
    *trace = {};
  }
  const ThreadScope scope(how.threads);
  Variable stream = x;
  for (std::int64_t layer = 0; layer < parts.options.layers; ++layer) {
    stream = parts.run(layer, stream, how, trace);
  }
  if (trace != nullptr) trace->inputs.push_back(stream);
  return parts.norm ? parts.norm->forward(stream, how) : stream;
}

void Stack::initialize(Initializer& initializer) {
  initialize_blocks(initializer, 0, parts_->options.layers);
}

void Stack::initialize_blocks(Initializer& initializer, std::int64_t first, std::int64_t last) {
  if (first < 0 || last > parts_->options.layers || first > last) {
    refuse("blocks [" + std::to_string(first) + ", " + std::to_string(last) + ") are not within " +
           std::to_string(parts_->options.layers) + " layers");
  }
  for (std::int64_t layer = first; layer < last; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    parts_->blocks[at]->initialize(initializer);
    const LayerPositions& positions = parts_->positions[at];
    if (positions.scheme && positions.first) positions.scheme->initialize(initializer);
  }
}

}  // namespace volvelle
