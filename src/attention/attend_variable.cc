#include "volvelle/attention/attend_variable.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/pass_on.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr const char* kOperation = "attend";

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[" + std::string(kOperation) + "] " + text);
}

// Columns [first, first + heads * width) of token vectors as heads: (H,T,D), or (B,H,T,D).
template <class AnyView>
AnyView heads_of(const AnyView& tokens, std::int64_t first, std::int64_t heads,
                 std::int64_t width) {
  const int rank = tokens.rank();
  const std::int64_t row = tokens.shape()[rank - 1];
  Shape shape;
  Strides strides;
  if (rank == 3) {
    shape.push_back(tokens.shape()[0]);
    strides.push_back(tokens.shape()[1] * row);
  }
  for (const std::int64_t length : {heads, tokens.shape()[rank - 2], width}) {
    shape.push_back(length);
  }
  for (const std::int64_t stride : {width, row, std::int64_t{1}}) strides.push_back(stride);
  using Byte = std::conditional_t<std::is_same_v<AnyView, View>, const char, char>;
  const auto bytes = static_cast<std::int64_t>(size_of(tokens.dtype()));
  return AnyView(static_cast<Byte*>(tokens.data()) + first * bytes, tokens.dtype(), shape, strides);
}

// Which heads are where in an array of token vectors.
struct Columns {
  int array = 0;  // of the operator's inputs
  std::int64_t first = 0;
  std::int64_t heads = 1;
  std::int64_t width = 1;

  template <class AnyView>
  AnyView of(const AnyView& tokens) const {
    return heads_of(tokens, first, heads, width);
  }
};

struct Layout {
  Columns q, k, v;
  int arrays = 3;  // token vectors among the inputs; the others follow
};

struct Extra {
  const char* name;
  Variable AttendVariableOptions::* variable;
  View AttentionProblem::* view;
  MutableView AttentionGradients::* gradient;
};
constexpr std::array kExtras{
    Extra{"bias", &AttendVariableOptions::bias, &AttentionProblem::bias, &AttentionGradients::bias},
    Extra{"slopes", &AttendVariableOptions::slopes, &AttentionProblem::slopes,
          &AttentionGradients::slopes},
    Extra{"bias_table", &AttendVariableOptions::bias_table, &AttentionProblem::bias_table,
          &AttentionGradients::bias_table},
    Extra{"bucket_table", &AttendVariableOptions::bucket_table, &AttentionProblem::bucket_table,
          &AttentionGradients::bucket_table},
    Extra{"sinks", &AttendVariableOptions::sinks, &AttentionProblem::sinks,
          &AttentionGradients::sinks},
    Extra{"relative_keys", &AttendVariableOptions::relative_keys, &AttentionProblem::relative_keys,
          &AttentionGradients::relative_keys},
    Extra{"relative_queries", &AttendVariableOptions::relative_queries,
          &AttentionProblem::relative_queries, &AttentionGradients::relative_queries},
    Extra{"relative_values", &AttendVariableOptions::relative_values,
          &AttentionProblem::relative_values, &AttentionGradients::relative_values},
};

// Arrays of the rules, which are constants here.
constexpr std::array kRuleArrays{
    &AttentionProblem::bias,
    &AttentionProblem::slopes,
    &AttentionProblem::bias_table,
    &AttentionProblem::bucket_table,
    &AttentionProblem::sinks,
    &AttentionProblem::query_positions,
    &AttentionProblem::key_positions,
    &AttentionProblem::query_offset,
    &AttentionProblem::key_lengths,
    &AttentionProblem::query_segments,
    &AttentionProblem::key_segments,
    &AttentionProblem::keep,
    &AttentionProblem::relative_keys,
    &AttentionProblem::relative_queries,
    &AttentionProblem::relative_values,
};

constexpr std::array kTurnArrays{&RotaryTurn::cosines, &RotaryTurn::sines, &RotaryTurn::key_cosines,
                                 &RotaryTurn::key_sines};

// The tables as the problem takes them. They are not copied: whoever keeps `tables` keeps them.
RotaryTurn turn_by(const RotaryTables& tables) {
  return {.cosines = tables.cosines.view(),
          .sines = tables.sines.view(),
          .key_cosines = tables.key_cosines.view(),
          .key_sines = tables.key_sines.view(),
          .pairing = tables.pairing};
}

// Whether anything is; what does not go together is refused with the problem.
bool is_set(const RotaryTurn& turn) {
  return turn.cosines || turn.sines || turn.key_cosines || turn.key_sines ||
         turn.pairing != RotaryPairing::split_half || turn.keys_are_turned;
}

// What the way back needs.
struct Kept {
  Layout layout;
  AttentionProblem rules;  // its arrays are views of `constants`
  std::vector<Tensor> constants;
  RotaryTables tables;
  std::vector<Saved> inputs;
  Tensor output, lse;
  AttentionOptions options;

  AttentionProblem problem() const {
    AttentionProblem made = rules;
    const auto tokens = [&](const Columns& columns) {
      return columns.of(inputs[static_cast<std::size_t>(columns.array)].view(kOperation));
    };
    made.q = tokens(layout.q);
    made.k = tokens(layout.k);
    made.v = tokens(layout.v);
    for (std::size_t i = 0; i < kExtras.size(); ++i) {
      const Saved& extra = inputs[static_cast<std::size_t>(layout.arrays) + i];
      if (extra) made.*kExtras[i].view = extra.view(kOperation);
    }
    return made;
  }

  void pass_back(GradientPass& pass) const;
};

void Kept::pass_back(GradientPass& pass) const {
  pass.check_output();
  const AttentionProblem whole = problem();
  AttentionGradients wanted;
  std::vector<std::pair<int, Tensor>> made;
  const auto room = [&](int input) {
    const Variable& like = inputs[static_cast<std::size_t>(input)].variable(kOperation);
    made.emplace_back(input, Tensor(like.dtype(), like.shape()));
    return made.back().second.mutable_view();
  };
  for (int array = 0; array < layout.arrays; ++array) {
    if (!pass.wants(array)) continue;
    const MutableView tokens = room(array);
    if (layout.q.array == array) wanted.q = layout.q.of(tokens);
    if (layout.k.array == array) wanted.k = layout.k.of(tokens);
    if (layout.v.array == array) wanted.v = layout.v.of(tokens);
  }
  for (int i = 0; i < static_cast<int>(kExtras.size()); ++i) {
    const int input = layout.arrays + i;
    if (pass.wants(input)) wanted.*kExtras[static_cast<std::size_t>(i)].gradient = room(input);
  }
  const Columns rows{0, 0, layout.q.heads, layout.v.width};
  attend_backward(whole, {.output = rows.of(output.view()), .lse = lse.view()},
                  rows.of(pass.grad_output()), wanted, options);
  for (auto& [input, gradient] : made) pass_on(pass, input, std::move(gradient));
}

Variable attend_tokens(std::vector<Variable> inputs, const Layout& layout,
                       const AttendVariableOptions& options) {
  AttentionProblem problem = attention_rules(options);
  const auto tokens = [&](const Columns& columns) {
    return columns.of(inputs[static_cast<std::size_t>(columns.array)].view());
  };
  problem.q = tokens(layout.q);
  problem.k = tokens(layout.k);
  problem.v = tokens(layout.v);

  bool recording = false;
  for (const Extra& extra : kExtras) inputs.push_back(options.*extra.variable);
  for (const Variable& input : inputs) recording = recording || is_recording({&input});

  Shape shape = inputs[static_cast<std::size_t>(layout.q.array)].shape();
  shape[shape.rank() - 1] = layout.q.heads * layout.v.width;
  Tensor output(problem.q.dtype(), shape);
  Tensor lse;
  if (recording) {
    Shape rows;
    for (int axis = 0; axis + 1 < problem.q.rank(); ++axis) rows.push_back(problem.q.shape()[axis]);
    lse = Tensor(problem.q.dtype() == DType::float64 ? DType::float64 : DType::float32, rows);
  }
  const AttentionOptions how{.path = options.path, .threads = options.threads};
  const Columns rows{0, 0, layout.q.heads, layout.v.width};
  attend(problem, {.output = rows.of(output.mutable_view()), .lse = lse.mutable_view()}, how);
  if (!recording) return Variable(std::move(output));

  auto kept = std::make_shared<Kept>();
  kept->layout = layout;
  kept->rules = options.rules;
  for (View AttentionProblem::* array : kRuleArrays) {
    if (!(options.rules.*array)) continue;
    kept->constants.push_back(copy_of(options.rules.*array));
    kept->rules.*array = kept->constants.back().view();
  }
  for (View RotaryTurn::* array : kTurnArrays) {
    if (!(options.rules.rotary.*array)) continue;
    kept->constants.push_back(copy_of(options.rules.rotary.*array));
    kept->rules.rotary.*array = kept->constants.back().view();
  }
  kept->tables = options.rotary;
  if (kept->tables.cosines) kept->rules.rotary = turn_by(kept->tables);
  for (const Variable& input : inputs) kept->inputs.emplace_back(input);
  kept->output = output;
  kept->lse = std::move(lse);
  kept->options = how;
  return record(kOperation, std::move(output), std::move(inputs),
                [kept = std::move(kept)](GradientPass& pass) { kept->pass_back(pass); });
}

void check_tokens(const char* name, const Variable& tokens) {
  if (!tokens) refuse(std::string(name) + " is absent");
  if (tokens.rank() == 2 || tokens.rank() == 3) return;
  refuse(std::string(name) + " " + to_string(tokens.shape()) +
         " must hold token vectors: (B,T,C) or (T,C)");
}

struct Heads {
  std::int64_t queries, keys;
};

Heads checked_heads(const AttendVariableOptions& options) {
  const Heads heads{options.heads, options.key_heads == 0 ? options.heads : options.key_heads};
  if (heads.queries < 1 || heads.keys < 1) {
    refuse("H=" + std::to_string(options.heads) + " and G=" + std::to_string(options.key_heads) +
           " must be positive (G=0: as many as H)");
  }
  if (options.rules.q || options.rules.k || options.rules.v) {
    refuse("q, k and v come as variables; leave them out of the rules");
  }
  return heads;
}

std::int64_t width_of(const char* name, const Variable& tokens, std::int64_t heads) {
  const std::int64_t columns = tokens.shape()[tokens.rank() - 1];
  if (columns > 0 && columns % heads == 0) return columns / heads;
  refuse(std::string(name) + " " + to_string(tokens.shape()) + " has " + std::to_string(columns) +
         " columns, which " + std::to_string(heads) + " heads do not divide");
}

}  // namespace

AttentionProblem attention_rules(const AttendVariableOptions& options) {
  AttentionProblem made = options.rules;
  for (const Extra& extra : kExtras) {
    const Variable& given = options.*extra.variable;
    if (!given) continue;
    if (made.*extra.view) {
      refuse(std::string(extra.name) + " is given twice: among the rules and as a variable");
    }
    made.*extra.view = given.view();
  }
  const RotaryTurn shared = turn_by(options.rotary);
  if (!is_set(shared)) return made;
  if (is_set(made.rotary)) refuse("rotary is given twice: among the rules and as shared tables");
  made.rotary = shared;
  return made;
}

Variable attend(const Variable& q, const Variable& k, const Variable& v,
                const AttendVariableOptions& options) {
  check_tokens("q", q);
  check_tokens("k", k);
  check_tokens("v", v);
  const Heads heads = checked_heads(options);
  Layout layout;
  layout.q = {0, 0, heads.queries, width_of("q", q, heads.queries)};
  layout.k = {1, 0, heads.keys, width_of("k", k, heads.keys)};
  layout.v = {2, 0, heads.keys, width_of("v", v, heads.keys)};
  return attend_tokens({q, k, v}, layout, options);
}

Variable attend_packed(const Variable& qkv, const AttendVariableOptions& options) {
  check_tokens("qkv", qkv);
  const Heads heads = checked_heads(options);
  const std::int64_t width = width_of("qkv", qkv, heads.queries + 2 * heads.keys);
  Layout layout;
  layout.arrays = 1;
  layout.q = {0, 0, heads.queries, width};
  layout.k = {0, heads.queries * width, heads.keys, width};
  layout.v = {0, (heads.queries + heads.keys) * width, heads.keys, width};
  return attend_tokens({qkv}, layout, options);
}

}  // namespace volvelle
