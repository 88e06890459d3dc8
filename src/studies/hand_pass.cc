#include "studies/hand_pass.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/embedding.h"
#include "volvelle/ops/linear_variable.h"
#include "volvelle/ops/norms.h"
#include "volvelle/ops/split.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[hand pass] " + text); }

/// The weights of a model by name; absent ones are absent variables.
class Weights {
 public:
  explicit Weights(const LanguageModel& model) {
    for (NamedParameter& parameter : model.parameters()) {
      by_name_.emplace(std::move(parameter.name), std::move(parameter.variable));
    }
  }
  Variable operator[](const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? Variable() : found->second;
  }

 private:
  std::unordered_map<std::string, Variable> by_name_;
};

/// Token t at place t.
std::vector<std::int64_t> places_by_index(std::int64_t tokens) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(tokens));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

/// Every head of the values (B,T,H D) turned by its token's index, as keys are.
Variable turned_values(const Variable& values, const RotaryTables& tables, std::int64_t heads) {
  if (!tables.cosines) refuse("this scheme turns nothing, so values cannot be turned like keys");
  Tensor turned = converted(values.view(), DType::float32);
  const auto of_keys = [](const Tensor& own, const Tensor& common) {
    return converted((own ? own : common).view(), DType::float64);
  };
  const Tensor cosines = of_keys(tables.key_cosines, tables.cosines);
  const Tensor sines = of_keys(tables.key_sines, tables.sines);
  const Shape& shape = turned.shape();
  const std::int64_t tokens = shape[1], width = shape[2] / heads;
  const std::int64_t pairs = cosines.shape()[cosines.rank() - 1];
  const bool halves = tables.pairing == RotaryPairing::split_half;
  for (std::int64_t row = 0; row < shape[0] * tokens * heads; ++row) {
    float* head = turned.data<float>() + row * width;
    const std::int64_t place = row / heads % tokens;
    for (std::int64_t i = 0; i < pairs; ++i) {
      float& a = head[halves ? i : 2 * i];
      float& b = head[halves ? i + pairs : 2 * i + 1];
      const double c = cosines.data<double>()[place * pairs + i];
      const double s = sines.data<double>()[place * pairs + i];
      const double x = a, y = b;
      a = static_cast<float>(x * c - y * s);
      b = static_cast<float>(x * s + y * c);
    }
  }
  return Variable(turned);
}

/// (B,T,H D) as (B,H,T,D).
View by_head(const Variable& tokens, std::int64_t heads) {
  const Shape& shape = tokens.shape();
  const std::int64_t width = shape[2] / heads;
  return View(tokens.view().data(), tokens.dtype(), {shape[0], heads, shape[1], width},
              {shape[1] * shape[2], width, shape[2], 1});
}

/// Log of the sum of exponentials of each query's scores, (B,H,T).
Tensor log_sums(const Variable& q, const Variable& k, const Variable& v,
                const AttendVariableOptions& options, bool causal) {
  AttentionProblem problem = attention_rules(options);
  problem.causal = causal;
  problem.q = by_head(q, options.heads);
  problem.k = by_head(k, options.heads);
  problem.v = by_head(v, options.heads);
  return attend(problem, AttentionRequest{.lse = true}).lse;
}

/// Weights over all keys, those of later ones then made 0: what a causal row keeps is its share of
/// the sum over all keys, exp(log-sum-exp of seen keys - that of all).
Variable masked_after(const Variable& q, const Variable& k, const Variable& v,
                      const AttendVariableOptions& options) {
  Tensor kept = converted(attend(q, k, v, options).view(), DType::float32);
  const Tensor seen = log_sums(q, k, v, options, true);
  const Tensor all = log_sums(q, k, v, options, false);
  const std::int64_t heads = options.heads, tokens = kept.shape()[1];
  const std::int64_t width = kept.shape()[2] / heads;
  for (std::int64_t b = 0; b < kept.shape()[0]; ++b) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t row = (b * heads + h) * tokens + t;
        const float share = std::exp(seen.data<float>()[row] - all.data<float>()[row]);
        float* head = kept.data<float>() + ((b * tokens + t) * heads + h) * width;
        for (std::int64_t i = 0; i < width; ++i) head[i] *= share;
      }
    }
  }
  return Variable(kept);
}

/// (T,T) bool: keys before the query, without itself.
Tensor before_itself(std::int64_t tokens) {
  Tensor keep(DType::boolean, {tokens, tokens});
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = 0; j < tokens; ++j) keep.data<bool>()[i * tokens + j] = j < i;
  }
  return keep;
}

Variable attention(const Variable& q, const Variable& k, const Variable& v, std::int64_t heads,
                   const PositionScheme* scheme, const HandPassOptions& given) {
  const std::int64_t tokens = q.shape()[1];
  AttendVariableOptions options{.heads = heads, .rules = {.causal = true}};
  options.rules.query_positions = given.query_positions;
  options.rules.key_positions = given.key_positions;
  if (scheme != nullptr) {
    scheme->enter(options, {.query_positions = given.query_positions,
                            .key_positions = given.key_positions,
                            .positions = tokens});
  }
  const Variable values = given.values_turned ? turned_values(v, options.rotary, heads) : v;
  if (given.mask == HandMask::after_softmax) return masked_after(q, k, values, options);
  Tensor keep;
  if (given.mask == HandMask::without_diagonal) {
    keep = before_itself(tokens);
    options.rules.keep = keep.view();
  }
  return attend(q, k, values, options);
}

/// What the model adds to its token vectors, with the model's own numbers; null where it adds none.
std::shared_ptr<PositionScheme> scheme_of_tokens(const LanguageModel& model,
                                                 const Weights& weights) {
  const StackOptions& stack = model.stack().options();
  // One that is added to them is the same for all layers; others are the stack's.
  const PositionText text = positions_by_layer(model.options().positions, stack.layers).front();
  if (position_scheme(text.scheme).door != PositionDoor::tokens) return nullptr;
  std::shared_ptr<PositionScheme> scheme = make_positions(
      text, {.width = stack.width, .heads = stack.heads, .head_width = stack.head_width});
  for (NamedParameter& parameter : scheme->parameters()) {
    parameter.variable.replace(weights["positions." + parameter.name].value());
  }
  return scheme;
}

}  // namespace

Variable hand_pass(const LanguageModel& model, const View& ids, const HandPassOptions& given) {
  const StackOptions& stack = model.stack().options();
  if (stack.placement != "pre" || stack.norm != NormKind::layer || stack.epsilon != 0 ||
      !model.stack().has_final_norm() || stack.gated || !stack.causal ||
      stack.activation != Activation::relu || stack.separate_projections || stack.query_key_norm ||
      (stack.key_heads != 0 && stack.key_heads != stack.heads) || model.options().scale_embedding) {
    refuse(
        "this pass is written for causal pre-LN stacks with layer norms of the usual epsilon, a "
        "final norm, packed projections and ReLU");
  }
  const Weights weights(model);
  const std::int64_t tokens = ids.shape()[1],
                     columns = weights["stack.layers.0.self_attn.out_proj.weight"].shape()[1];
  const std::vector<std::int64_t> indices = places_by_index(tokens);
  HandPassOptions options = given;
  const View by_index(indices.data(), {tokens});
  if (!options.token_positions) options.token_positions = by_index;
  if (!options.query_positions) options.query_positions = by_index;
  if (!options.key_positions) options.key_positions = by_index;

  Variable x = embedding(ids, weights["embedding.weight"]);
  if (const auto scheme = scheme_of_tokens(model, weights)) {
    x = scheme->add_to_tokens(x, options.token_positions);
  }
  const auto normed = [&](const Variable& stream, const std::string& name) {
    return layer_norm(stream, weights[name + ".weight"], weights[name + ".bias"]);
  };
  const auto projected = [&](const Variable& from, const std::string& name,
                             const LinearVariableOptions& how) {
    return linear(from, weights[name + ".weight"], weights[name + ".bias"], how);
  };
  for (std::int64_t layer = 0; layer < stack.layers; ++layer) {
    const std::string block = "stack.layers." + std::to_string(layer) + ".";
    const Variable packed =
        linear(normed(x, block + "norm1"), weights[block + "self_attn.in_proj_weight"],
               weights[block + "self_attn.in_proj_bias"]);
    const std::vector<Variable> parts =
        split(packed, std::vector<std::int64_t>{columns, columns, columns});
    x = projected(attention(parts[0], parts[1], parts[2], stack.heads,
                            model.stack().positions(layer), options),
                  block + "self_attn.out_proj", {.residual = x});
    const Variable hidden =
        projected(normed(x, block + "norm2"), block + "linear1", {.activation = Activation::relu});
    x = projected(hidden, block + "linear2", {.residual = x});
  }
  const Variable head = weights["head.weight"];
  return linear(normed(x, "stack.norm"), head ? head : weights["embedding.weight"],
                weights["head.bias"]);
}

}  // namespace volvelle
