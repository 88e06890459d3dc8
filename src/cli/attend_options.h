#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/position_options.h"

namespace volvelle::cli {

/// What was typed behind `volvelle attend`.
struct AttendOptions {
  std::optional<std::string> input, layout, dtype;
  std::optional<std::string> q, k, v, x, wq, wk, wv;
  std::optional<std::int64_t> heads, key_heads;

  bool causal = false, alibi = false;
  std::optional<std::string> align, query_offset, key_lengths, padding, segments, keep, bias;
  std::optional<std::string> buckets, sinks;
  std::optional<std::int64_t> window, window_right, prefix, chunk, max_distance;
  std::optional<double> scale, softcap, dropout;
  std::optional<std::int64_t> seed;

  PositionOptions positions;

  bool backward = false;
  std::optional<std::string> grad_output;

  std::optional<std::string> path, simd;
  std::optional<std::int64_t> threads;

  bool steps = false, weights = false, entropy = false, column_sums = false, explain = false;
  std::optional<std::string> expect, out;
  std::optional<double> atol, rtol;
  bool force = false, json = false;
  std::optional<std::int64_t> digits;

  bool projects() const { return x || wq || wk || wv; }
  bool inline_arrays() const { return q || k || v || projects(); }
};

void declare(CommandLine& line, AttendOptions& options);

/// Contradictions among the options alone; those with arrays of INPUT are found when it is read.
/// Throws UsageError.
void check(const AttendOptions& options);

}  // namespace volvelle::cli
