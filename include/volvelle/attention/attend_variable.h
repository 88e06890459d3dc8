#pragma once

#include <cstdint>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/problem.h"
#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// RotaryTurn over arrays that are shared, not copied, while gradients need them.
struct RotaryTables {
  Tensor cosines = {}, sines = {};
  Tensor key_cosines = {}, key_sines = {};
  RotaryPairing pairing = RotaryPairing::split_half;
};

/// How heads lie in token vectors, and all rules of attention.
struct AttendVariableOptions {
  std::int64_t heads = 1;      ///< H
  std::int64_t key_heads = 0;  ///< G; 0: as many as heads
  /// Every rule of AttentionProblem; its q, k and v stay absent. Arrays among them are constants:
  /// they are copied when gradients are recorded, so they need not outlive the call.
  AttentionProblem rules = {};
  /// In place of the arrays of these names in `rules`, and with gradients.
  Variable bias = {};
  Variable slopes = {};
  Variable bias_table = {};
  Variable bucket_table = {};
  Variable sinks = {};
  Variable relative_keys = {};
  Variable relative_queries = {};
  Variable relative_values = {};
  RotaryTables rotary = {};  ///< in place of `rules.rotary`
  AttentionPath path = AttentionPath::automatic;
  int threads = 0;
};

/// The rules with what variables and shared tables hold in place of their arrays: views of them.
/// Throws InvalidArgument for arrays given twice.
VOLVELLE_API AttentionProblem attention_rules(const AttendVariableOptions& options);

/// Attention on the tape over token vectors: head h of a query is columns [h D, (h + 1) D) of q, so
/// heads are strides and nothing is copied. One operator: what it keeps are q, k, v, its output
/// and the log-sum-exp, never a T x S array.
///
/// Shapes:  q (B,T,H D), k (B,S,G D), v (B,S,G E), result (B,T,H E); all of them without B, too.
/// Numbers: float32, float64, bfloat16; float16 as well where nothing wants a gradient.
/// Throws:  as `attend`; InvalidArgument also for widths that heads do not divide, arrays given
///          twice, and q, k, v in `rules`.
VOLVELLE_API Variable attend(const Variable& q, const Variable& k, const Variable& v,
                             const AttendVariableOptions& options);

/// The same where one array holds q, k and v side by side, as a packed projection makes them.
///
/// Shapes:  qkv (B,T,(H + 2 G) D): H heads of queries, G of keys, G of values; result (B,T,H D).
VOLVELLE_API Variable attend_packed(const Variable& qkv, const AttendVariableOptions& options);

}  // namespace volvelle
