#include "measure/positioned_attention.h"

#include <algorithm>

#include "measure/random_array.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {

std::shared_ptr<PositionScheme> scheme_of_attention(const std::string& text,
                                                    const AttentionCase& shape) {
  std::shared_ptr<PositionScheme> scheme =
      make_positions(text, {.width = shape.heads * shape.head_width,
                            .heads = shape.heads,
                            .head_width = shape.head_width,
                            .key_heads = shape.key_heads,
                            .causal = shape.causal});
  if (scheme->facts().door == PositionDoor::tokens) {
    throw InvalidArgument("[bench] '" + text +
                          "' is added to the token vectors and costs attention nothing; give a "
                          "scheme that turns, adds a bias or adds vectors, or none");
  }
  return scheme;
}

PositionedAttention::PositionedAttention(const AttentionArrays& arrays, const std::string& scheme)
    : scheme_(scheme_of_attention(scheme, arrays.shape)), problem_(arrays.problem()) {
  std::uint64_t seed = 5;
  for (NamedParameter& parameter : scheme_->parameters()) {
    // ALiBi's slopes stay: others would not be ALiBi's.
    if (parameter.variable.rank() < 2) continue;
    parameter.variable.replace(
        random_array(parameter.variable.dtype(), parameter.variable.shape(), seed++));
  }
  const std::int64_t positions = std::max(arrays.shape.queries, arrays.shape.keys);
  scheme_->enter(entered_, {.positions = positions});
  problem_.buckets = entered_.rules.buckets;
  problem_.max_distance = entered_.rules.max_distance;
  const RotaryTables& rotary = entered_.rotary;
  if (rotary.cosines) {
    problem_.rotary.cosines = rotary.cosines.view();
    problem_.rotary.sines = rotary.sines.view();
    if (rotary.key_cosines) problem_.rotary.key_cosines = rotary.key_cosines.view();
    if (rotary.key_sines) problem_.rotary.key_sines = rotary.key_sines.view();
    problem_.rotary.pairing = rotary.pairing;
  }
  add(entered_.slopes, &AttentionProblem::slopes, &AttentionGradients::slopes);
  add(entered_.bias_table, &AttentionProblem::bias_table, &AttentionGradients::bias_table);
  add(entered_.bucket_table, &AttentionProblem::bucket_table, &AttentionGradients::bucket_table);
  add(entered_.relative_keys, &AttentionProblem::relative_keys, &AttentionGradients::relative_keys);
  add(entered_.relative_queries, &AttentionProblem::relative_queries,
      &AttentionGradients::relative_queries);
  add(entered_.relative_values, &AttentionProblem::relative_values,
      &AttentionGradients::relative_values);
}

void PositionedAttention::add(const Variable& parameter, View AttentionProblem::* place,
                              MutableView AttentionGradients::* gradient) {
  if (!parameter) return;
  problem_.*place = parameter.value().view();
  if (!parameter.requires_grad()) return;
  memory_.push_back(Tensor::zeros(parameter.dtype(), parameter.shape()));
  gradients_.*gradient = memory_.back().mutable_view();
}

AttentionGradients PositionedAttention::gradients(const AttentionGradients& of_q_k_v) {
  gradients_.q = of_q_k_v.q;
  gradients_.k = of_q_k_v.k;
  gradients_.v = of_q_k_v.v;
  return gradients_;
}

}  // namespace volvelle
