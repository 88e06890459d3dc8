#pragma once

#include <cstdint>
#include <string>

#include "cli/array_pool.h"
#include "cli/position_options.h"
#include "cli/position_reach.h"
#include "volvelle/attention/problem.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle::cli {

/// How a request tells attention its positions: the scheme that it names, made to enter its
/// problem, and arrays of its own. Everything throws UsageError for what is missing, comes twice or
/// does not fit, and InvalidArgument where the library refuses a scheme.
class PositionInputs {
 public:
  PositionInputs(const PositionOptions& options, ArrayPool& pool);

  /// Puts the arrays of these options into the pool.
  void add_arrays();
  /// Tokens (T,C) or (B,T,C) with what a scheme that is added to token vectors adds; as they are
  /// without such a scheme. `context.width` is C.
  Tensor with_positions(const Tensor& tokens, const PositionContext& context);
  /// Positions, relative vectors, turns and biases into a problem that has q, k, its own biases and
  /// its exclusion.
  void enter(AttentionProblem& problem);

  /// What was given, in words: "rotary(pairing=interleaved, base=500); relative keys".
  std::string words() const;

 private:
  bool adds_to_tokens() const;
  void learn(const PositionScheme& scheme);
  void set_positions(AttentionProblem& problem, std::int64_t batch);
  void check_range(const char* name);
  void check_reach(const PositionReach& reach) const;
  void set_tables(AttentionProblem& problem);
  void set_scheme(AttentionProblem& problem);
  void set_turn(RotaryTurn& turn, const RotaryTables& tables);
  View learned(const char* name, const Variable& of_scheme, const View& given);

  const PositionOptions& options_;
  ArrayPool& pool_;
  std::string text_;  // of a scheme; empty: none, or tables of INPUT
  bool is_projected_ = false;
};

}  // namespace volvelle::cli
